import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider';
import { isCall, newEvent, type Event, type WireFormatName } from '@belay/protocol';
import { sampled, until } from '@belay/testing';
import { ownerCaller } from '../access/caller.js';
import {
  failedResponse,
  streaming,
  type ProviderServer,
} from '../models/testing/provider-server.js';
import {
  anthropicMessages,
  chatCompletions,
  googleGenerate,
  openaiResponses,
  type ProviderWire,
} from '../models/testing/provider-wires.js';
import { WireBench } from '../models/testing/wire-bench.js';

interface Case {
  agent: string;
  wire: ProviderWire;
  shell: string;
  field: string;
  /** A whole reply with a text and a call. */
  body(name: string, input: Record<string, unknown>): object;
  sdk(url: (path: string) => string): LanguageModelV4;
}

const apiKey = 'token';
const cases: Record<WireFormatName, Case> = {
  messages: {
    agent: 'claude-code',
    wire: anthropicMessages,
    shell: 'Bash',
    field: 'command',
    body: (name, input) => ({
      type: 'message',
      id: 'msg_1',
      model: 'claude-sonnet-4-5',
      role: 'assistant',
      content: [
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 'call_1', name, input },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 12, output_tokens: 3 },
    }),
    sdk: (url) =>
      createAnthropic({ apiKey, baseURL: url('/anthropic/v1') }).languageModel('claude-sonnet-4-5'),
  },
  responses: {
    agent: 'codex',
    wire: openaiResponses,
    shell: 'exec_command',
    field: 'cmd',
    body: (name, input) => ({
      id: 'resp_1',
      created_at: 1,
      model: 'gpt-5',
      output: [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Looking.', annotations: [] }],
        },
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name,
          arguments: JSON.stringify(input),
        },
      ],
      usage: { input_tokens: 12, output_tokens: 3 },
    }),
    sdk: (url) => createOpenAI({ apiKey, baseURL: url('/openai/v1') }).responses('gpt-5'),
  },
  chat: {
    agent: 'opencode',
    wire: chatCompletions,
    shell: 'bash',
    field: 'command',
    body: (name, input) => ({
      id: 'c1',
      created: 1,
      model: 'local',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Looking.',
            tool_calls: [
              {
                id: 'call_1',
                type: 'function',
                function: { name, arguments: JSON.stringify(input) },
              },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 12, completion_tokens: 3 },
    }),
    sdk: (url) =>
      createOpenAICompatible({ name: 'belay', apiKey, baseURL: url('/openai/v1') }).languageModel(
        'local',
      ),
  },
  gemini: {
    agent: 'gemini',
    wire: googleGenerate,
    shell: 'run_shell_command',
    field: 'command',
    body: (name, input) => ({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [{ text: 'Looking.' }, { functionCall: { id: 'call_1', name, args: input } }],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3 },
    }),
    sdk: (url) =>
      createGoogle({ apiKey, baseURL: url('/gemini/v1beta') }).languageModel('gemini-2.5-pro'),
  },
};

const formats = sampled(1, Object.entries(cases));
describe.each(formats)('calls of a program in the format %s', (_, one) => {
  const { wire, agent, shell, field } = one;
  let provider: ProviderServer;
  let bench: WireBench;
  beforeEach(async () => {
    bench = await WireBench.open(wire);
    ({ provider } = bench);
    await bench.session({
      modelForPrograms: false,
      approvals: 'ask',
      agent: { name: agent, version: '1', protocol: 'acp' },
    });
  });
  afterEach(() => bench.close());
  const run = (id: string, command: string) => ({
    id,
    name: shell,
    input: JSON.stringify({ [field]: command }),
  });
  const unknown = { id: 'call_9', name: 'launch', input: '{"where":"moon"}' };
  const task: LanguageModelV4Message = {
    role: 'user',
    content: [{ type: 'text', text: 'Fix it' }],
  };
  const options = (prompt: LanguageModelV4Message[], names = [shell, 'launch']) => ({
    prompt,
    tools: names.map((name) => ({
      type: 'function' as const,
      name,
      inputSchema: { type: 'object' as const },
    })),
  });
  const stream = async (given: LanguageModelV4CallOptions) => {
    const parts = (await one.sdk((path) => bench.url(path)).doStream(given)).stream;
    const calls: LanguageModelV4ToolCall[] = [];
    let text = '';
    let finish = '';
    for await (const part of parts) {
      if (part.type === 'tool-call') calls.push(part);
      if (part.type === 'text-delta') text += part.delta;
      if (part.type === 'finish') finish = part.finishReason.unified;
    }
    return { calls, text, finish };
  };
  /** The conversation as a program sends it after these calls. */
  const historyOf = (calls: readonly LanguageModelV4ToolCall[]): LanguageModelV4Message[] => [
    task,
    {
      role: 'assistant',
      content: calls.map(({ toolCallId, toolName, input }) => ({
        type: 'tool-call',
        toolCallId,
        toolName,
        input: JSON.parse(input) as unknown,
      })),
    },
    {
      role: 'tool',
      content: calls.map(({ toolCallId, toolName }) => ({
        type: 'tool-result',
        toolCallId,
        toolName,
        output: { type: 'text', value: 'done' },
      })),
    },
  ];
  const answer = (id: string, verdict: 'approved' | 'rejected', reason = '') =>
    bench.approvals.approvals.answer('s', { id, caller: ownerCaller }, { verdict, reason });
  const logged = async () =>
    (await bench.logs.log.read('s', { after: 0 })).filter((event: Event) => isCall(event.action));
  const waiting = async () => (await bench.logs.log.summary('s')).waitingFor;

  it('are asked for before they leave, and leave unchanged when they are allowed', async () => {
    provider.answer(streaming(wire.reply({ text: 'Looking.', calls: [run('call_1', 'ls -l')] })));
    const reply = stream(options([task]));
    await bench.approvals.waits(1);
    expect(await waiting()).toMatchObject([
      {
        id: 'call_1',
        operation: 'terminal.run',
        subject: 'ls -l',
        input: { command: 'ls -l' },
        fixed: true,
      },
    ]);
    expect(Buffer.concat(bench.received).toString()).not.toContain('ls -l');
    // What is asked holds neither the budget nor other requests.
    expect((await bench.logs.log.summary('s')).openRequests).toBe(0);
    await answer('call_1', 'approved');
    const { calls, text } = await reply;
    expect(text).toBe('Looking.');
    expect(calls).toMatchObject([{ toolName: shell, input: JSON.stringify({ [field]: 'ls -l' }) }]);
    expect(await logged()).toMatchObject([
      { source: 'server', action: 'terminal.run', id: 'call_1', args: { command: 'ls -l' } },
    ]);
  });

  it('that are refused fail in the program, and are as they were in its next request', async () => {
    const both = [run('call_1', "rm -rf 'build'"), unknown];
    provider.answer(streaming(wire.reply({ reasoning: 'Hm.', calls: both })));
    const reply = stream(options([task]));
    await bench.approvals.waits(2);
    await answer('call_1', 'rejected', 'Use git clean.');
    await answer('call_9', 'approved');
    const { calls, finish } = await reply;
    expect(finish).toBe('tool-calls');
    const [standIn, other] = calls;
    expect(other).toMatchObject({ toolName: 'launch', input: unknown.input });
    expect(standIn?.toolName).toBe(shell);
    const command = (JSON.parse(standIn?.input ?? '{}') as Record<string, string>)[field];
    expect(command).toMatch(
      /^printf '%s\\n' 'Belay did not run rm -rf .* Use git clean. Go on in another way.' >&2; exit 1$/,
    );
    expect(await logged()).toMatchObject([
      { action: 'terminal.run', id: 'call_1' },
      { action: `tool.${agent}.launch`, id: 'call_9', args: { where: 'moon' } },
    ]);
    // The program goes on with its own history, as its SDK writes it.
    provider.answer(streaming(wire.reply({ text: 'I see.' })));
    const history = historyOf(calls);
    expect((await stream(options(history))).text).toBe('I see.');
    const sent = provider.requests.at(-1)?.text ?? '';
    expect(sent).not.toContain('Belay did not run');
    expect(sent).toContain('rm -rf');
    // The provider gets exactly what it would have got if the program had made the call itself.
    const honest = await WireBench.open(wire);
    await honest.session();
    honest.provider.answer(streaming(wire.reply({ text: 'I see.' })));
    const named = history.map((message) =>
      typeof message.content === 'string'
        ? message
        : {
            ...message,
            content: message.content.map((part) =>
              part.type === 'tool-call' && part.toolCallId === standIn?.toolCallId
                ? { ...part, input: { [field]: "rm -rf 'build'" } }
                : part,
            ),
          },
    ) as LanguageModelV4Message[];
    await one.sdk((path) => honest.url(path)).doStream(options(named));
    expect(honest.provider.requests.at(-1)?.text).toBe(sent);
    await honest.close();
  });

  it('are held in replies without a stream, too', async () => {
    const body = one.body(shell, { [field]: 'rm -rf build' });
    provider.answer(failedResponse(200, body), failedResponse(200, body));
    const generate = async () => {
      const { content } = await one.sdk((path) => bench.url(path)).doGenerate(options([task]));
      return content.find((part) => part.type === 'tool-call');
    };
    const refused = generate();
    await bench.approvals.waits(1);
    expect(Buffer.concat(bench.received).toString()).not.toContain('Looking');
    await answer('call_1', 'rejected');
    expect((await refused)?.input).toContain('Belay did not run rm -rf build.');
    expect((await bench.logs.log.summary('s')).tokens).toBe(15);
    // The same id again is refused, whatever it does, because a decision is about one call.
    await bench.approvals.turnTo('s', 'auto');
    expect((await generate())?.input).toContain('has a call call_1 already');
  });

  it('become texts where the program offers no shell', async () => {
    provider.answer(streaming(wire.reply({ calls: [unknown] })));
    const reply = stream(options([task], ['launch']));
    await bench.approvals.waits(1);
    await answer('call_9', 'rejected');
    const { calls, text, finish } = await reply;
    expect(calls).toEqual([]);
    expect(text).toContain('Belay did not run {"where":"moon"}. The user did not allow this.');
    expect(finish).toBe('stop');
    // The model sees its own call, and the text as its result.
    provider.answer(streaming(wire.reply({ text: 'I see.' })));
    const said: LanguageModelV4Message = { role: 'assistant', content: [{ type: 'text', text }] };
    await stream(options([task, said, task]));
    const { body } = provider.requests.at(-1)!;
    const sent = JSON.stringify(body['messages'] ?? body['input'] ?? body['contents']);
    expect(sent).toContain('launch');
    expect(sent.split('Belay did not run')).toHaveLength(2);
    expect(sent).toMatch(/"(tool_result|function_call_output|tool|functionResponse)"/);
  });

  it('are refused when they cannot be read, or their id was used before', async () => {
    await bench.approvals.turnTo('s', 'auto');
    await bench.logs.log.append('s', [
      {
        source: 'server',
        action: 'terminal.run',
        args: { command: 'ls' },
        message: 'ls',
        id: 'call_1',
      },
    ]);
    const twice = `{"${field}":"ls","${field}":"rm -rf /"}`;
    const cut = `{"${field}":"ls`;
    const unreadable = { call_2: twice, call_3: cut };
    const given = Object.entries(wire.provider === 'google' ? {} : unreadable).map(
      ([id, input]) => ({ id, name: shell, input }),
    );
    provider.answer(streaming(wire.reply({ calls: [run('call_1', 'whoami'), ...given] })));
    const { calls } = await stream(options([task]));
    for (const { input } of calls) {
      expect(input).toContain('Belay did not run');
      expect(input).toContain('exit 1');
    }
    expect(calls).toHaveLength(1 + given.length);
    expect(calls[0]?.input).toContain('has a call call_1 already');
    // What is not JSON does not come back, so that later requests are.
    provider.answer(streaming(wire.reply({ text: 'I see.' })));
    expect((await stream(options(historyOf(calls)))).text).toBe('I see.');
  });

  it('pass at once where nobody is to be asked, byte for byte', async () => {
    await bench.approvals.turnTo('s', 'auto');
    const events = wire.reply({ text: 'Go.', calls: [run('call_1', 'ls'), run('call_2', 'pwd')] });
    provider.answer(streaming(events));
    expect((await stream(options([task]))).calls).toHaveLength(2);
    expect(Buffer.concat(bench.received).toString()).toContain(events.join(''));
    expect((await logged()).map(({ id }) => id)).toEqual(['call_1', 'call_2']);
  });

  it('have the verdict of an equal call that no program got, once', async () => {
    const reply = (id: string, second: string) =>
      streaming(wire.reply({ calls: [run(id, 'ls -l'), run(second, 'pwd')] }));
    provider.answer(
      reply('call_1', 'call_2'),
      reply('call_3', 'call_4'),
      reply('call_5', 'call_6'),
    );
    const leave = new AbortController();
    const broken = stream({ ...options([task]), abortSignal: leave.signal });
    await bench.approvals.waits(2);
    await answer('call_1', 'approved');
    await bench.approvals.waits(1);
    leave.abort();
    await expect(broken).rejects.toThrow();
    await bench.approvals.waits(0);
    const again = stream(options([task]));
    await bench.approvals.waits(1);
    expect(await waiting()).toMatchObject([{ id: 'call_4', subject: 'pwd' }]);
    await answer('call_4', 'approved');
    expect((await again).calls).toHaveLength(2);
    // The program has got it now, so the next one is another call.
    const third = stream(options([task]));
    await bench.approvals.waits(2);
    for (const id of ['call_5', 'call_6']) await answer(id, 'rejected');
    await third;
    const approved = (await bench.events('approve')).map(({ id, source }) => [id, source]);
    expect(approved).toEqual([
      ['call_1', 'user'],
      ['call_3', 'server'],
      ['call_4', 'user'],
    ]);
  });

  it('attacks: a kept verdict stands in for no mode that refuses', async () => {
    const both = [run('call_1', 'ls'), run('call_2', 'pwd')];
    provider.answer(streaming(wire.reply({ calls: both })));
    const leave = new AbortController();
    const broken = stream({ ...options([task]), abortSignal: leave.signal });
    await bench.approvals.waits(2);
    await answer('call_1', 'approved');
    leave.abort();
    await expect(broken).rejects.toThrow();
    await bench.approvals.turnTo('s', 'plan');
    provider.answer(streaming(wire.reply({ calls: [run('call_3', 'ls')] })));
    const { calls } = await stream(options([task]));
    expect(calls[0]?.input).toContain('Belay did not run ls.');
  });

  it('whose questions a killed server left open are withdrawn, and asked again', async () => {
    provider.answer(streaming(wire.reply({ calls: [run('call_1', 'ls -l')] })));
    const broken = stream(options([task]));
    await bench.approvals.waits(1);
    await bench.restart();
    await expect(broken).rejects.toThrow();
    expect(await waiting()).toEqual([]);
    provider.answer(streaming(wire.reply({ calls: [run('call_2', 'ls -l')] })));
    const again = stream(options([task]));
    await bench.approvals.waits(1);
    await answer('call_2', 'approved');
    expect((await again).calls).toMatchObject([{ toolCallId: expect.any(String) as string }]);
  });

  it('are withdrawn when the program leaves, and never leave after the end of the session', async () => {
    provider.answer(streaming(wire.reply({ calls: [run('call_1', 'ls')] })));
    const leave = new AbortController();
    const left = stream({ ...options([task]), abortSignal: leave.signal });
    await bench.approvals.waits(1);
    leave.abort();
    await expect(left).rejects.toThrow();
    await bench.approvals.waits(0);
    provider.answer(streaming(wire.reply({ calls: [run('call_2', 'ls -R')] })));
    const stopped = stream(options([task])).catch((error: unknown) => error);
    await bench.approvals.waits(1);
    await bench.logs.log.append('s', [newEvent('user', 'stop', { args: {}, message: 'Stop' })]);
    await stopped;
    await until('no question', async () => (await waiting()).length === 0);
    expect(Buffer.concat(bench.received).toString()).not.toContain('ls -R');
  });
});
