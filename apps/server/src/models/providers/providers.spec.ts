import { itLong, until } from '@belay/testing';
import { AppError, toolName, type Message } from '@belay/protocol';
import { TestGateway, turn } from '../../testing/test-gateway.js';
import { ProviderServer, failedResponse, streaming } from '../testing/provider-server.js';
import { wires, type ProviderWire } from '../testing/provider-wires.js';

const run = { id: 'call_1', name: 'terminal_run', input: '{"command":"ls -l"}' };
const read = { id: 'call_2', name: 'files_read', input: '{"path":"ä/sum.ts"}' };

describe.each(wires.map((wire): [string, ProviderWire] => [wire.provider, wire]))(
  '%s',
  (name, wire) => {
    let server: ProviderServer;
    let test: TestGateway;
    beforeEach(async () => {
      server = await ProviderServer.open();
      test = await TestGateway.open(wire.environment(server.url));
      await test.session(wire.model);
    });
    afterEach(async () => {
      await test.close();
      await server.close();
    });
    const failure = async (promise: Promise<unknown>): Promise<AppError> => {
      const error = await promise.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(AppError);
      return error as AppError;
    };

    it('streams text and reasoning, and tells what was used', async () => {
      server.answer(streaming(wire.reply({ text: 'Größe: 5 – gut.', reasoning: 'Adding up…' })));
      const reply = await test.generate();
      expect(reply).toMatchObject({
        text: 'Größe: 5 – gut.',
        reasoning: 'Adding up…',
        calls: [],
        finish: 'stop',
        usage: { inputTokens: 120, cachedTokens: 20, outputTokens: 9 },
      });
      expect(test.streamed()).toBe('Größe: 5 – gut.');
      expect(test.streamed('reasoning')).toBe('Adding up…');
      expect(test.deltas.length).toBeGreaterThanOrEqual(4);
      const [usage] = await test.events('usage');
      expect(usage?.args).toMatchObject({ model: wire.model, contextTokens: 120 });
      expect((await test.logs.log.summary('s')).steps).toBe(1);
    });

    it('reads parallel calls by the names of their operations', async () => {
      server.answer(streaming(wire.reply({ text: 'Looking.', calls: [run, read] })));
      const reply = await test.generate();
      expect(reply.finish).toBe('calls');
      expect(reply.calls.map(({ operation, input }) => [operation, input])).toEqual([
        ['terminal.run', { command: 'ls -l' }],
        ['files.read', { path: 'ä/sum.ts' }],
      ]);
      expect(new Set(reply.calls.map(({ id }) => id)).size).toBe(2);
    });

    it('leaves a name that the model made up as it is, and takes it in the history', async () => {
      server.answer(
        streaming(wire.reply({ calls: [{ id: 'call_9', name: 'make_coffee', input: '{}' }] })),
        streaming(wire.reply({ text: 'Sorry.' })),
      );
      const { calls, text, opaque } = await test.generate();
      expect(calls[0]).toMatchObject({ operation: 'make_coffee', input: {} });
      const output = { code: 'not_found', message: 'There is no such operation.' };
      const results = [
        { id: calls[0]!.id, operation: 'make_coffee', output, failed: true, images: [] },
      ];
      const again = turn({ role: 'assistant', text, calls, opaque }, { role: 'tool', results });
      expect((await test.generate(again)).text).toBe('Sorry.');
      expect(JSON.stringify(server.requests[1]?.body)).toContain('There is no such operation.');
    });

    it('sends the history back with results, pictures and what only the provider understands', async () => {
      server.answer(
        streaming(wire.reply({ text: 'Looking.', reasoning: 'Hm.', calls: [run] })),
        streaming(wire.reply({ text: 'Done.' })),
      );
      const first = await test.generate();
      const picture = await test.blobs.putFor('s', Buffer.from('a picture'), 'image/png');
      const results = [
        {
          id: first.calls[0]!.id,
          operation: 'terminal.run',
          output: { text: 'a.ts' },
          failed: false,
          images: [picture],
        },
      ];
      const history: Message[] = [
        { role: 'assistant', ...first },
        { role: 'tool', results },
      ];
      await test.generate(turn(...history, { role: 'user', text: 'And this?', images: [picture] }));
      const sent = JSON.stringify(server.requests[1]?.body);
      const base64 = Buffer.from('a picture').toString('base64');
      expect(sent.split(base64)).toHaveLength(3);
      expect(sent).toContain('a.ts');
      expect(sent).toContain('And this?');
      if (name === 'anthropic') expect(sent).toContain('"signature":"signed-1"');
      if (name === 'google') expect(sent).toContain('"thoughtSignature":"signed-1"');
      if (name === 'openai') expect(sent).toContain('"encrypted_content":"sealed-1"');
      if (name === 'openai-compatible') expect(sent).toContain('"reasoning_content":"Hm."');
    });

    it('offers tools of MCP servers as their servers describe them, and knows their calls', async () => {
      const tool = {
        server: 'tools',
        name: 'odd.name',
        description: 'Of another house.',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      };
      const name = toolName('mcp.tools.odd.name');
      await test.logs.session('with-tools', { model: wire.model, mcp: [tool] });
      const call = { id: 'call_1', name, input: '{"text":"hi"}' };
      server.answer(streaming(wire.reply({ text: '', calls: [call] })));
      const request = { ...turn(), operations: ['files.read', 'mcp.tools.odd.name'] };
      const signal = new AbortController().signal;
      const reply = await test.gateway.generate('with-tools', request, { signal });
      expect(reply.calls).toMatchObject([
        { operation: 'mcp.tools.odd.name', input: { text: 'hi' } },
      ]);
      const sent = JSON.stringify(server.requests[0]?.body);
      expect(sent).toContain('Of another house.');
      expect(sent).toContain(`"${name}"`);
    });

    it('offers the operations as tools with their schemas', async () => {
      server.answer(streaming(wire.reply({ text: 'Yes.' })));
      await test.generate();
      const { tools } = server.requests[0]!.body;
      const sent = JSON.stringify(tools);
      for (const tool of ['terminal_run', 'files_read', 'finish'])
        expect(sent).toContain(`"${tool}"`);
      expect(sent).toContain('"command"');
      // One name everywhere: no description names an operation in the platform's own spelling.
      expect(sent).not.toMatch(/\b(?:files|terminal|browser|web|plan)\.[a-z]+/);
    });

    it('knows the operations for a summary too, and is to call none', async () => {
      server.answer(streaming(wire.reply({ text: 'All was done.' })));
      await test.generate({ purpose: 'compact' });
      const sent = JSON.stringify(server.requests[0]?.body);
      expect(sent).toContain('"terminal_run"');
      const none = {
        openai: '"tool_choice":"none"',
        anthropic: '"tool_choice":{"type":"none"}',
        google: '"functionCallingConfig":{"mode":"NONE"}',
        'openai-compatible': '"tool_choice":"none"',
      }[wire.provider];
      expect(sent).toContain(none);
      expect(test.deltas).toEqual([]);
    });

    itLong('waits as long as a 429 asks, says so, and tries again', async () => {
      server.answer(
        failedResponse(429, wire.error('Slow down', 'rate_limit_error'), { 'retry-after': '1' }),
        streaming(wire.reply({ text: 'Now.' })),
      );
      const began = Date.now();
      expect((await test.generate()).text).toBe('Now.');
      expect(Date.now() - began).toBeGreaterThanOrEqual(990);
      const [retry] = await test.events('retry');
      expect(retry?.args).toEqual({
        attempt: 2,
        seconds: 1,
        error: `${name} answered 429: Slow down.`,
      });
    });

    it('tries again after server errors for as long as they last', async () => {
      const broken = failedResponse(503, wire.error('Down'));
      server.answer(...Array.from({ length: 8 }, () => broken));
      server.answer(streaming(wire.reply({ text: 'Up.' })));
      expect((await test.generate()).text).toBe('Up.');
      expect(await test.events('retry')).toHaveLength(8);
    });

    it('tries again when the stream is cut in the middle of a reply or of a call', async () => {
      const whole = wire.reply({ text: 'Looking at it.', calls: [run] });
      server.answer(
        streaming(whole.slice(0, 3), 'cut'),
        // Ended cleanly, but too early: half a call.
        streaming(whole.slice(0, -3)),
        streaming(whole),
      );
      const reply = await test.generate();
      expect(reply.calls).toMatchObject([
        { operation: 'terminal.run', input: { command: 'ls -l' } },
      ]);
      expect(await test.events('retry')).toHaveLength(2);
      expect(await test.events('usage')).toHaveLength(1);
    });

    it('passes an empty reply on, which is paid for', async () => {
      server.answer(streaming(wire.reply({})));
      expect(await test.generate()).toMatchObject({ text: '', calls: [] });
      expect(await test.events('usage')).toHaveLength(1);
      expect(await test.events('retry')).toEqual([]);
    });

    it('aborts the provider’s stream with the call', async () => {
      const half = wire.reply({ text: 'A long story…' }).slice(0, -2);
      server.answer(streaming(half, 'open'));
      const abort = new AbortController();
      const reply = failure(test.generate({}, abort.signal));
      await until('text', () => test.streamed());
      abort.abort();
      expect((await reply).code).toBe('cancelled');
      await server.abandoned.promise;
      expect(await test.events('retry')).toEqual([]);
    });

    it('recognises a conversation that is too long', async () => {
      const words = {
        openai:
          'Your input exceeds the context window of this model. Please adjust your input and try again.',
        anthropic: 'prompt is too long: 212345 tokens > 200000 maximum',
        google:
          'The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).',
        'openai-compatible':
          "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      }[wire.provider];
      server.answer(failedResponse(400, wire.error(words)));
      const error = await failure(test.generate());
      expect(error).toMatchObject({ code: 'context_overflow' });
      expect(error.message).toContain(words);
      expect(server.requests).toHaveLength(1);
    });

    it('names a refused key without showing it', async () => {
      server.answer(failedResponse(401, wire.error('Incorrect API key provided: key-1')));
      const error = await failure(test.generate());
      expect(error.code).toBe('model_failed');
      expect(error.message).toMatch(
        /refused the key: check it under Settings → Models, or [A-Z_]+_API_KEY\.$/,
      );
      expect(error.message).not.toContain('key-1');
      server.answer(failedResponse(400, wire.error('Bad request with key-1')));
      expect((await failure(test.generate())).message).toBe(
        `${name} answered 400: Bad request with ….`,
      );
      expect(server.requests).toHaveLength(2);
    });
  },
);
