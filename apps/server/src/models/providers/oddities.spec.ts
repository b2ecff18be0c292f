import type { Message, ModelReply } from '@belay/protocol';
import { until } from '@belay/testing';
import { TestGateway, turn } from '../../testing/test-gateway.js';
import {
  modelList,
  ProviderServer,
  failedResponse,
  streaming,
} from '../testing/provider-server.js';
import {
  anthropicMessages,
  chatCompletions,
  googleGenerate,
  openaiResponses,
  type ProviderWire,
} from '../testing/provider-wires.js';

const answers = ({ calls }: Pick<ModelReply, 'calls'>): Message => ({
  role: 'tool',
  results: calls.map(({ id, operation }) => ({
    id,
    operation,
    output: {},
    failed: false,
    images: [],
  })),
});

describe('what differs from provider to provider', () => {
  let server: ProviderServer;
  let test: TestGateway;
  const open = async (wire: ProviderWire, model = wire.model) => {
    test = await TestGateway.open(wire.environment(server.url));
    await test.session(model);
  };
  beforeEach(async () => {
    server = await ProviderServer.open();
  });
  afterEach(async () => {
    await test.close();
    await server.close();
  });

  it.each([chatCompletions, openaiResponses, anthropicMessages])(
    'reads the other calls when one is malformed JSON: $provider',
    async (wire) => {
      await open(wire);
      const calls = [
        { id: 'call_1', name: 'terminal_run', input: '{"command": "ls"' },
        { id: 'call_2', name: 'finish', input: '{}' },
      ];
      server.answer(streaming(wire.reply({ calls })), streaming(wire.reply({ text: 'Again.' })));
      const reply = await test.generate();
      expect(reply.calls[0]).toMatchObject({
        operation: 'terminal.run',
        input: '{"command": "ls"',
        invalid: expect.stringMatching(/^The input is not valid JSON: /) as string,
      });
      expect(reply.calls[1]).toEqual({ id: 'call_2', operation: 'finish', input: {} });
      // The history with the malformed call can be sent back.
      await test.generate(turn({ role: 'assistant', ...reply }, answers(reply)));
      expect(server.requests).toHaveLength(2);
    },
  );

  it('keeps the order and the signatures of Anthropic’s thinking, and drops them for another provider', async () => {
    await open(anthropicMessages);
    const call = { id: 'call_1', name: 'terminal_run', input: '{"command":"ls"}' };
    const wire = { text: 'Looking.', reasoning: 'First look.', calls: [call] };
    server.answer(
      streaming(anthropicMessages.reply(wire)),
      streaming(anthropicMessages.reply({ text: 'Fine.' })),
    );
    const reply = await test.generate();
    // As the agent names it, when the id was there before.
    const id = 'call_1-2';
    const calls = reply.calls.map((made) => ({ ...made, id }));
    const results = [{ id, operation: 'terminal.run', output: 1, failed: false, images: [] }];
    const history = turn({ role: 'assistant', ...reply, calls }, { role: 'tool', results });
    await test.generate(history);
    const messages = server.requests[1]?.body['messages'] as { role: string; content: object[] }[];
    expect(messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'First look.', signature: 'signed-1' },
      { type: 'text', text: 'Looking.' },
      { type: 'tool_use', id, name: 'terminal_run', input: { command: 'ls' } },
    ]);
    await test.close();
    await open(chatCompletions);
    server.answer(streaming(chatCompletions.reply({ text: 'Fine.' })));
    await test.generate(history);
    const elsewhere = JSON.stringify(server.requests[2]?.body);
    expect(elsewhere).not.toContain('signed-1');
    expect(elsewhere).not.toContain('First look.');
    expect(elsewhere).toContain('Looking.');
  });

  it('gives OpenAI back its sealed reasoning beside its calls, also when it told nothing of it', async () => {
    await open(openaiResponses);
    const calls = [
      { id: 'call_1', name: 'terminal_run', input: '{"command":"ls"}' },
      { id: 'call_2', name: 'files_read', input: '{"path":"a"}' },
    ];
    server.answer(
      streaming(openaiResponses.reply({ reasoning: '', calls })),
      streaming(openaiResponses.reply({ text: 'Fine.' })),
    );
    const reply = await test.generate();
    await test.generate(turn({ role: 'assistant', ...reply }, answers(reply)));
    const input = server.requests[1]?.body['input'] as { type: string }[];
    expect(input.slice(2)).toMatchObject([
      { type: 'reasoning', encrypted_content: 'sealed-1' },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call', call_id: 'call_2' },
      { type: 'function_call_output', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_2' },
    ]);
  });

  it('gives Anthropic back thinking that it withheld, or of which it shows only the signature', async () => {
    await open(anthropicMessages);
    const call = { id: 'call_1', name: 'terminal_run', input: '{"command":"ls"}' };
    const events = anthropicMessages.reply({ reasoning: '', calls: [call] });
    const at = events.findIndex((event) => event.includes('"thinking"'));
    const redacted = { type: 'redacted_thinking', data: 'sealed-1' };
    const block = [
      { type: 'content_block_start', index: 7, content_block: redacted },
      { type: 'content_block_stop', index: 7 },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    server.answer(
      streaming([...events.slice(0, at), ...block, ...events.slice(at)]),
      streaming(anthropicMessages.reply({ text: 'Fine.' })),
    );
    const reply = await test.generate();
    await test.generate(turn({ role: 'assistant', ...reply }, answers(reply)));
    const messages = server.requests[1]?.body['messages'] as { content: object[] }[];
    expect(messages[1]?.content).toMatchObject([
      redacted,
      { type: 'thinking', thinking: '', signature: 'signed-1' },
      { type: 'tool_use', id: 'call_1' },
    ]);
  });

  it('gives Gemini back the signature of the first of parallel calls, and the sign for calls of another model', async () => {
    await open(googleGenerate, 'google:gemini-3-pro-preview');
    const calls = [
      { id: 'call_1', name: 'terminal_run', input: '{"command":"ls"}' },
      { id: 'call_2', name: 'files_read', input: '{"path":"a"}' },
    ];
    server.answer(
      streaming(googleGenerate.reply({ calls })),
      streaming(googleGenerate.reply({ text: 'Fine.' })),
    );
    const reply = await test.generate();
    const foreign = { ...reply, opaque: undefined };
    await test.generate(
      turn(
        { role: 'assistant', ...foreign },
        answers(foreign),
        { role: 'assistant', ...reply },
        answers(reply),
      ),
    );
    const contents = server.requests[1]?.body['contents'] as { role: string; parts: object[] }[];
    const signatures = contents
      .filter(({ role }) => role === 'model')
      .map(({ parts }) =>
        parts.map((part) => (part as Record<string, unknown>)['thoughtSignature']),
      );
    expect(signatures).toEqual([
      ['skip_thought_signature_validator', expect.anything()],
      ['signed-1', undefined],
    ]);
  });

  it('marks what Anthropic shall cache, and pays for reading and writing it', async () => {
    await open(anthropicMessages);
    const usage = { input: 10_000, cached: 6_000, cacheWrite: 3_000, output: 100 };
    server.answer(streaming(anthropicMessages.reply({ text: 'Yes.', usage })));
    const { usage: used } = await test.generate(
      turn(
        { role: 'assistant', text: 'One.', calls: [] },
        { role: 'user', text: 'Two.', images: [] },
        { role: 'assistant', text: 'Three.', calls: [] },
        { role: 'user', text: 'Four.', images: [] },
      ),
    );
    const { system, messages } = server.requests[0]!.body as {
      system: object[];
      messages: { content: { text: string; cache_control?: object }[] }[];
    };
    expect(system).toMatchObject([{ cache_control: { type: 'ephemeral' } }]);
    const marked = messages.flatMap(({ content }) => content.filter((part) => part.cache_control));
    expect(marked.map(({ text }) => text)).toEqual(['Two.', 'Four.']);
    // 1,000 fresh at $3, 6,000 read at $0.30, 3,000 written at $3.75, 100 out at $15 for a million.
    expect(used.dollars).toBeCloseTo(0.003 + 0.0018 + 0.01125 + 0.0015, 10);
    expect(used).toMatchObject({ inputTokens: 10_000, cachedTokens: 6_000 });
  });

  it.each([
    ['claude-sonnet-4-5', 64_000],
    ['claude-opus-5-5', 128_000],
    ['claude-of-tomorrow-9', 128_000],
  ])('lets Anthropic’s %s write as much as it can', async (model, most) => {
    await open(anthropicMessages, `anthropic:${model}`);
    server.answer(streaming(anthropicMessages.reply({ text: 'Yes.' })));
    await test.generate();
    expect(server.requests[0]?.body['max_tokens']).toBe(most);
  });

  it('stores nothing at OpenAI and asks for the same cache for a session', async () => {
    await open(openaiResponses, 'openai:gpt-5?reasoning=high');
    server.answer(streaming(openaiResponses.reply({ text: 'Yes.' })));
    await test.generate();
    expect(server.requests[0]?.path).toBe('/v1/responses');
    expect(server.requests[0]?.body).toMatchObject({
      store: false,
      prompt_cache_key: 's',
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high' },
    });
  });

  it('tries again after Anthropic is overloaded in the middle of a stream', async () => {
    await open(anthropicMessages);
    const begun = anthropicMessages.reply({ text: 'Half' }).slice(0, 4);
    const overloaded = `event: error\ndata: ${JSON.stringify(anthropicMessages.error('Overloaded', 'overloaded_error'))}\n\n`;
    server.answer(
      streaming([...begun, overloaded]),
      streaming(anthropicMessages.reply({ text: 'Whole' })),
    );
    expect((await test.generate()).text).toBe('Whole');
    expect((await test.events('retry'))[0]?.message).toMatch(
      /^Waiting for the provider: anthropic answered 529: Overloaded\. Next try in /,
    );
  });

  it('reads the time to wait from Google’s error', async () => {
    await open(googleGenerate);
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '0.5s' }];
    const error = { code: 429, message: 'Quota', status: 'RESOURCE_EXHAUSTED', details };
    server.answer(
      failedResponse(429, { error }),
      streaming(googleGenerate.reply({ text: 'Now.' })),
    );
    await test.generate();
    expect((await test.events('retry'))[0]?.args['seconds']).toBe(0.5);
  });

  it.each([
    [{ max_model_len: 32_768 }, 32_768],
    [{ context_length: 200_000 }, 200_000],
    [{ max_context_length: 8_192, loaded_context_length: 4_096 }, 4_096],
    [{ context_length: 'large' }, null],
    [{}, null],
  ])('takes the window from the server that runs the model: %j', async (sizes, window) => {
    await open(chatCompletions);
    const id = chatCompletions.model.slice('openai-compatible:'.length);
    server.models = modelList({ id: 'other', context_length: 1 }, { id, ...sizes });
    server.answer(streaming(chatCompletions.reply({ text: 'Hi' })));
    expect((await test.generate()).contextTokens).toBe(window);
  });

  it.each([
    ['once', 404, 1],
    ['again', 503, 2],
  ])('asks %s for the window after a %i', async (_, status, times) => {
    await open(chatCompletions);
    let asked = 0;
    server.models = (response) => {
      asked += 1;
      failedResponse(status, {})(response);
    };
    const reply = streaming(chatCompletions.reply({ text: 'Hi' }));
    server.answer(reply, reply);
    expect((await test.generate()).contextTokens).toBeNull();
    expect((await test.generate()).contextTokens).toBeNull();
    expect(asked).toBe(times);
  });

  it('asks for the window while the model writes', async () => {
    await open(chatCompletions);
    const id = chatCompletions.model.slice('openai-compatible:'.length);
    const asked = Promise.withResolvers<void>();
    server.models = (response) => {
      asked.resolve();
      modelList({ id, max_model_len: 8_192 })(response);
    };
    const reply = streaming(chatCompletions.reply({ text: 'Hi' }));
    server.answer((response) => void asked.promise.then(() => reply(response)));
    expect(await test.generate()).toMatchObject({ text: 'Hi', contextTokens: 8_192 });
  });

  it('leaves pictures out for a model that reads text alone, once its provider says so', async () => {
    await open(chatCompletions);
    const blob = await test.blobs.putFor('s', new Uint8Array([1, 2]), 'image/png');
    const shown = { id: 'call_1', operation: 'files.read', output: {}, failed: false };
    const call = { id: 'call_1', operation: 'files.read', input: {} };
    const messages: Message[] = [
      { role: 'assistant', text: '', calls: [call] },
      { role: 'tool', results: [{ ...shown, images: [blob] }] },
    ];
    const refusal = { error: { message: 'This is not a multimodal model' } };
    server.answer(
      failedResponse(400, refusal),
      streaming(chatCompletions.reply({ text: 'Blind.' })),
    );
    expect(await test.generate(turn(...messages))).toMatchObject({ text: 'Blind.' });
    const [first, second] = server.requests.map(({ text }) => text);
    expect(first).toContain('image_url');
    expect(second).not.toContain('image_url');
    expect(second).toContain('this model cannot see');
    server.answer(failedResponse(400, { error: { message: 'Some image is broken' } }));
    await expect(test.generate()).rejects.toMatchObject({ code: 'model_failed' });
  });

  it('does not try again when the account is empty', async () => {
    await open(openaiResponses);
    server.answer(
      failedResponse(429, openaiResponses.error('You exceeded your quota', 'insufficient_quota')),
    );
    await expect(test.generate()).rejects.toThrow(/no credit left/);
    expect(server.requests).toHaveLength(1);
  });

  it('says when a reply was cut by its length', async () => {
    await open(chatCompletions);
    server.answer(streaming(chatCompletions.reply({ text: 'Half a sent', finish: 'length' })));
    expect(await test.generate()).toMatchObject({ text: 'Half a sent', finish: 'length' });
  });

  it('tries again while nothing listens at the address', async () => {
    await open(chatCompletions);
    await server.close();
    const abort = new AbortController();
    const reply = test.generate({}, abort.signal);
    await until('four tries', async () => (await test.events('retry')).length >= 3);
    abort.abort();
    await expect(reply).rejects.toMatchObject({ code: 'cancelled' });
    server = await ProviderServer.open();
  });
});
