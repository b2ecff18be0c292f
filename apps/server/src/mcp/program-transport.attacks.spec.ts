import { PassThrough, type Writable } from 'node:stream';
import type { OutputPiece } from '@belay/rpc';
import { pause, until } from '@belay/testing';
import type { RunningProgram } from '@belay/containers';
import { ProgramTransport } from './program-transport.js';

/** A program that says what the test has it say. */
class FakeProgram implements RunningProgram {
  readonly input: Writable;
  readonly #output = new PassThrough({ objectMode: true });
  readonly #ended = Promise.withResolvers<{ code: number }>();
  readonly ended = this.#ended.promise;
  stops = 0;

  constructor(input: Writable = new PassThrough().resume()) {
    this.input = input;
  }

  get output(): AsyncIterable<OutputPiece> {
    return this.#output;
  }

  says(text: string, isError = false): void {
    this.#output.write({ isError, data: Buffer.from(text) });
  }

  exits(code: number): void {
    this.#ended.resolve({ code });
    this.#output.end();
  }

  stop(): Promise<{ code: number }> {
    this.stops += 1;
    this.#ended.resolve({ code: 137 });
    this.#output.destroy();
    return this.ended;
  }
}

async function opened(program: FakeProgram) {
  const transport = new ProgramTransport(() => Promise.resolve(program));
  const received: unknown[] = [];
  const errors: string[] = [];
  let closes = 0;
  transport.onmessage = (message) => received.push(message);
  transport.onerror = ({ message }) => errors.push(message);
  transport.onclose = () => (closes += 1);
  await transport.start();
  return { transport, received, errors, closes: () => closes };
}
const ping = { jsonrpc: '2.0' as const, id: 1, method: 'ping' };

it('the control: reads messages among what a program prints, and knows how it ended', async () => {
  const program = new FakeProgram();
  const { transport, received, errors, closes } = await opened(program);
  program.says('Listening.\n{"jsonrpc":"2.0","id":1,');
  program.says('"method":"ping"}\n{"no":"message"}\n');
  program.says('out of cheese\n', true);
  program.exits(3);
  await until('the end', () => closes() === 1);
  expect(received).toEqual([ping]);
  expect(errors).toHaveLength(2);
  expect(transport.lastOutput).toBe('out of cheese\n');
  expect(transport.end).toEqual({ code: 3 });
  await expect(transport.send(ping)).rejects.toThrow('Not connected');
});

it.each([
  ['deep', `${'['.repeat(5_000)}${']'.repeat(5_000)}\n`, 'nested deeper'],
  ['endless', 'x'.repeat(11 * 2 ** 20), 'longer than'],
])('a program whose message is %s is ended', async (_, text, why) => {
  const program = new FakeProgram();
  const { transport, received, closes } = await opened(program);
  program.says(text);
  await until('the end', () => closes() === 1);
  expect(program.stops).toBe(1);
  expect(transport.lastOutput).toContain(why);
  expect(received).toEqual([]);
});

it('a program that does not read its input is ended', async () => {
  const program = new FakeProgram(new PassThrough());
  const { transport, closes } = await opened(program);
  const large = { ...ping, params: { text: 'x'.repeat(2 ** 20) } };
  const send = async () => {
    for (let count = 0; count < 20; count++) await transport.send(large);
  };
  await expect(send()).rejects.toThrow('does not read');
  await until('the end', () => closes() === 1);
});

it('a flood of messages is read no faster than the limit', async () => {
  const program = new FakeProgram();
  const { transport, received } = await opened(program);
  const begun = performance.now();
  program.says(`${JSON.stringify(ping)}\n`.repeat(10_000));
  await until('the first ones', () => received.length > 100);
  await pause(500, 'to let it read what it may');
  // Of the second in which it began, and of each that has begun since.
  const seconds = 1 + Math.ceil((performance.now() - begun) / 1_000);
  expect(received.length).toBeLessThanOrEqual(2_100 * seconds);
  await transport.close();
});
