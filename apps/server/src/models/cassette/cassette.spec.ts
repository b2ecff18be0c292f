import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message, ModelReply } from '@belay/protocol';
import { TestGateway, turn } from '../../testing/test-gateway.js';
import { ProviderServer, streaming } from '../testing/provider-server.js';
import { anthropicMessages } from '../testing/provider-wires.js';
import { withoutVolatile } from './without-volatile.js';

describe('a cassette', () => {
  let folder: string;
  let file: string;
  let server: ProviderServer;
  let test: TestGateway;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-cassette-'));
    file = join(folder, 'new', 'a.jsonl');
    server = await ProviderServer.open();
    test = await TestGateway.open(anthropicMessages.environment(server.url));
    await test.session(`cassette:${file}?record=${anthropicMessages.model}`);
    await test.logs.session('replay', { model: `cassette:${file}` });
  });
  afterEach(async () => {
    await test.close();
    await server.close();
    await rm(folder, { recursive: true });
  });
  const signal = new AbortController().signal;
  const replay = (...messages: Message[]) =>
    test.gateway.generate('replay', turn(...messages), { signal });
  const results = (reply: ModelReply, text: string, images: string[] = []): Message[] => [
    { role: 'assistant', text: reply.text, calls: reply.calls, opaque: reply.opaque },
    {
      role: 'tool',
      results: reply.calls.map(({ id, operation }) => ({
        id,
        operation,
        output: { text, seconds: Math.random() },
        failed: false,
        images,
      })),
    },
  ];

  const record = async () => {
    const run = { id: 'toolu_1', name: 'terminal_run', input: '{"command":"date"}' };
    server.answer(
      streaming(anthropicMessages.reply({ text: 'The time?', reasoning: 'Hm.', calls: [run] })),
      streaming(anthropicMessages.reply({ text: 'It is late.' })),
    );
    const first = await test.generate();
    const history = results(first, 'Took 1.5s at 2026-01-02T03:04:05Z on 127.0.0.1:4711');
    const second = await test.generate(turn(...history));
    return { first, second };
  };

  it('replays a session exactly, offline and for nothing', async () => {
    const { first, second } = await record();
    expect(first.usage.dollars).toBeGreaterThan(0);
    await server.close();
    test.deltas.length = 0;
    const again = await replay();
    expect(again).toEqual({ ...first, usage: { ...first.usage, dollars: 0 } });
    expect(test.streamed()).toBe('The time?');
    expect(test.streamed('reasoning')).toBe('Hm.');
    const history = results(again, 'Took 0.2s at 2027-05-06T07:08:09Z on 127.0.0.1:4712');
    expect((await replay(...history)).text).toBe(second.text);
    // A restarted agent asks the same again.
    expect((await replay(...history)).text).toBe(second.text);
    server = await ProviderServer.open();
  });

  it('fails loudly, with both sides, when a request differs', async () => {
    await record();
    const first = await replay();
    await expect(replay(...results(first, 'No such command'))).rejects.toMatchObject({
      code: 'model_failed',
      message: expect.stringMatching(
        /at messages\.3\.results\.0\.output\.text it has "Took <duration> at .*", but the session has "No such command"/,
      ) as string,
      details: { path: 'messages.3.results.0.output.text', now: '"No such command"' },
    });
  });

  it('does not write the same messages again and again, and begins anew with a session', async () => {
    await record();
    const text = await readFile(file, 'utf8');
    expect(text.split('You are an agent.')).toHaveLength(2);
    expect(text.trim().split('\n')).toHaveLength(3);
    await record();
    expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(3);
  });

  it('names the malformed line', async () => {
    await record();
    await writeFile(file, `${(await readFile(file, 'utf8')).slice(0, -20)}\n`);
    await expect(replay()).rejects.toThrow(`The cassette ${file} is malformed at line 3.`);
  });
});

describe('what is evened out', () => {
  it.each([
    ['2026-01-02T03:04:05.678Z and 2026-01-02 03:04', '<time> and <time>'],
    ['Fri Jan  2 03:04:05', '<date> <time>'],
    ['ok in 12.5 ms, 3s', 'ok in <duration>, <duration>'],
    ['# duration_ms 12.345', '# duration_ms <duration>'],
    ['http://localhost:40123/a on 0.0.0.0:80', 'http://localhost:<port>/a on 0.0.0.0:<port>'],
    ['/tmp/belay-x1/a.txt', '/tmp/<temporary>/a.txt'],
    ['[main (root-commit) 1a2b3c4] First', '[main (root-commit) <commit>] First'],
    ['[1] 4711', '[1] <pid>'],
    ['line 12 of 345: version 1.2.3', 'line 12 of 345: version 1.2.3'],
  ])('%s', (before, after) => {
    expect(withoutVolatile(before)).toBe(after);
  });

  it('evens out measures and pictures, and no other number', () => {
    expect(withoutVolatile({ seconds: 1.5, exitCode: 1, images: ['a', 'b'] })).toEqual({
      seconds: 0,
      exitCode: 1,
      images: ['<picture>', '<picture>'],
    });
  });
});
