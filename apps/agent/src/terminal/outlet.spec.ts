import { pause, until } from '@belay/testing';
import { Changes } from './changes.js';
import { TerminalOutput } from './terminal-output.js';
import { MemoryStream } from './testing/memory-stream.js';

const changes = new Changes();

/** A server that stores by offset, as the terminal log does: bytes it has are ignored, a gap is an error. */
class Store {
  bytes = Buffer.alloc(0);
  opened = 0;
  stream: MemoryStream | undefined;
  gate: Promise<void> = Promise.resolve();
  /** Sizes of what came, message by message. */
  readonly messages: number[] = [];

  open = async ({ offset }: { offset: number }): Promise<MemoryStream> => {
    this.opened += 1;
    if (offset > this.bytes.length) throw new Error(`gap: ${offset} after ${this.bytes.length}`);
    let at = offset;
    const stream = new MemoryStream(async (chunk) => {
      await this.gate;
      if (stream.destroyed) return;
      this.messages.push(chunk.length);
      this.bytes = Buffer.concat([this.bytes, chunk.subarray(Math.max(0, this.bytes.length - at))]);
      at += chunk.length;
    });
    this.stream = stream;
    return stream;
  };
}

test('sends what is printed, in order, and again after each break', async () => {
  const store = new Store();
  const output = new TerminalOutput({
    terminal: 'main',
    start: 0,
    openStream: store.open,
    changes,
    onHold: () => undefined,
  });
  let expected = '';
  for (let line = 0; line < 2_000; line += 1) {
    const text = `${line} ${'.'.repeat(line % 300)}\n`;
    expected += text;
    output.receive(Buffer.from(text), false);
    if (line % 400 === 399) {
      await until('connected', () => store.stream?.destroyed === false);
      store.stream?.destroy();
    }
    if (line % 50 === 0) await pause(1, 'output comes in pieces');
  }
  await until('all is stored', () => store.bytes.length === expected.length);
  expect(store.bytes.toString()).toBe(expected);
  expect(store.opened).toBeGreaterThan(4);
  output.close();
});

test('sends at once what comes alone, and together what follows closely', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  const turn = () => new Promise<void>((next) => setImmediate(() => setImmediate(next)));
  try {
    const store = new Store();
    const output = new TerminalOutput({
      terminal: 'main',
      start: 0,
      openStream: store.open,
      changes,
      onHold: () => undefined,
    });
    await turn();
    jest.advanceTimersByTime(1_000);
    output.receive(Buffer.from('x'), false);
    await turn();
    expect(store.messages).toEqual([1]);
    for (let chunk = 0; chunk < 10; chunk += 1) {
      output.receive(Buffer.alloc(4_000, 'y'), false);
      await turn();
    }
    expect(store.messages).toEqual([1]);
    jest.advanceTimersByTime(2);
    await turn();
    expect(store.messages).toEqual([1, 40_000]);
    // A page that is full does not wait.
    for (let chunk = 0; chunk < 20; chunk += 1) output.receive(Buffer.alloc(4_000, 'z'), false);
    await turn();
    expect(store.messages).toEqual([1, 40_000, 65_536 - 40_001]);
    output.close();
    await turn();
    expect(store.bytes.length).toBe(1 + 40_000 + 80_000);
  } finally {
    jest.useRealTimers();
  }
});

test('goes on at the given offset', async () => {
  const store = new Store();
  store.bytes = Buffer.from('old.');
  const output = new TerminalOutput({
    terminal: 'main',
    start: 4,
    openStream: store.open,
    changes,
    onHold: () => undefined,
  });
  output.print('new');
  await until('stored', () => store.bytes.length === 7);
  expect(store.bytes.toString()).toBe('old.new');
  output.close();
});

test('holds the programs while too much waits, and keeps every byte', async () => {
  const store = new Store();
  let open = () => {};
  store.gate = new Promise((resolve) => (open = resolve));
  const held: boolean[] = [];
  const output = new TerminalOutput({
    terminal: 'main',
    start: 0,
    openStream: store.open,
    changes,
    onHold: (now) => held.push(now),
  });
  const chunk = Buffer.alloc(64 * 1024, 'x');
  for (let index = 0; index < 100; index += 1) output.receive(chunk, false);
  await until('held', () => held.at(-1) === true);
  open();
  await until('let go', () => held.at(-1) === false);
  await until('stored', () => store.bytes.length === 100 * chunk.length);
  output.close();
});

test('waits for a server that is away', async () => {
  const store = new Store();
  let away = true;
  let tries = 0;
  const output = new TerminalOutput({
    terminal: 'main',
    start: 0,
    changes,
    onHold: () => undefined,
    openStream: (meta) => {
      tries += 1;
      return away ? Promise.reject(new Error('away')) : store.open(meta);
    },
  });
  output.print('kept');
  await until('a try', () => tries > 0);
  away = false;
  await until('stored', () => store.bytes.toString() === 'kept');
  output.close();
});

test('a closed terminal loses nothing of what waits, whether the server is slow or away', async () => {
  const store = new Store();
  let open = () => {};
  store.gate = new Promise((resolve) => (open = resolve));
  let away = false;
  const output = new TerminalOutput({
    terminal: 'main',
    start: 0,
    changes,
    onHold: () => undefined,
    openStream: (meta) => (away ? Promise.reject(new Error('away')) : store.open(meta)),
  });
  const chunk = Buffer.alloc(64 * 1024, 'x');
  for (let index = 0; index < 20; index += 1) output.receive(chunk, false);
  await until('connected', () => store.stream !== undefined);
  output.close();
  away = true;
  const broken = store.stream;
  broken?.destroy();
  await new Promise((closed) => broken?.once('close', closed));
  open();
  away = false;
  await until('stored', () => store.bytes.length === 20 * chunk.length);
  await until('ended', () => store.stream?.writableFinished === true);
});
