import { readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { itLong, keptBytes, pause, processorMsUntil, sampled, until } from '@belay/testing';
import { AppError } from '@belay/protocol';
import { encode, type Frame } from './frame.js';
import { limits } from './limits.js';
import { ackMessage, headerBytes, helloMessage, numberFrame } from './message.js';
import { Listening, type Dialled } from './testing/listening.js';

let listening: Listening;
let other: Listening;
let honest: Dialled;
const uncaught: unknown[] = [];
/** The processor time of an honest call and of what it waits behind; alone it takes a millisecond. */
const promptMs = 3_000;
const answersPromptly = async (): Promise<void> => {
  const call = async () => expect(await honest.call('add', { n: 1 })).toEqual({ n: 2 });
  expect(await processorMsUntil(call)).toBeLessThan(promptMs);
};
const note = (error: unknown): void => void uncaught.push(error);

beforeEach(async () => {
  process.on('uncaughtException', note).on('unhandledRejection', note);
  [listening, other] = [await Listening.open(), await Listening.open()];
  honest = other.dial();
});
afterEach(async () => {
  // The positive control of every attack: the agent of another sandbox is served, and nothing reached the process.
  await answersPromptly();
  await Promise.all([listening.close(), other.close()]);
  process.off('uncaughtException', note).off('unhandledRejection', note);
  expect(uncaught.splice(0)).toEqual([]);
});

const frame = (seq: number, what: Frame): Buffer => numberFrame(encode(what), seq);
/** A frame as no honest peer encodes it. */
function handMade(head: unknown, json: string | Buffer = '', parts = Buffer.alloc(0)): Buffer {
  const [first, second] = [Buffer.from(JSON.stringify(head)), Buffer.from(json)];
  const start = Buffer.alloc(headerBytes + 8);
  start.writeUInt32BE(first.length, headerBytes);
  start.writeUInt32BE(second.length, headerBytes + 4);
  return numberFrame(Buffer.concat([start, first, second, parts]), 1);
}
const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('attacks: one message', () => {
  itLong('01: with an id of 70 MiB closes its connection, and no more', async () => {
    const { socket, closed } = await listening.greeted();
    const id = 'x'.repeat(70 * 2 ** 20);
    socket.send(handMade({ kind: 'call', id, name: 'add' }, '{"n":1}'));
    await closed;
    expect(listening.broken).toEqual(['a frame has wrong lengths']);
  });

  it('01: beyond the limit is not even read', async () => {
    const { socket, closed } = await listening.greeted();
    socket.send(Buffer.alloc(limits.frameBytes + 2 ** 20));
    expect(await closed).toBe(1009);
    expect(listening.broken).toEqual(['a message is too large or malformed']);
  });

  it('08, 46: with JSON of a million levels fails its own call only', async () => {
    const { socket } = await listening.greeted();
    const replies: string[] = [];
    socket.on('message', (bytes: Buffer) => replies.push(bytes.toString()));
    const head = { kind: 'call', id: 'deep', name: 'keep' };
    socket.send(handMade(head, `{"value":${deep(1_000_000)}}`));
    await until('the reply', () =>
      replies.some((reply) => reply.includes('nested deeper than 80')),
    );
    socket.send(frame(2, { kind: 'call', id: 'good', name: 'add', input: { n: 1 } }));
    await until('the next', () => replies.some((reply) => reply.includes('{"n":2}')));
    expect(listening.broken).toEqual([]);
  });

  itLong('with many millions of small values fails its own call only', async () => {
    const { socket } = await listening.greeted();
    const replies: string[] = [];
    socket.on('message', (bytes: Buffer) => replies.push(bytes.toString()));
    const before = process.memoryUsage().rss;
    const value = `[${'[],'.repeat(10_000_000)}[]]`;
    socket.send(handMade({ kind: 'call', id: 'many', name: 'keep' }, `{"value":${value}}`));
    await until('the reply', () => replies.some((reply) => reply.includes('more than 1000000')));
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 2 ** 20);
  });

  const messages: [string, () => Buffer | string][] = [
    ['of an unknown kind', () => Buffer.alloc(20, 9)],
    [
      'a second hello',
      () =>
        Buffer.concat([
          Buffer.from([1, 0, 0, 0, 0, 0, 0]),
          Buffer.from('{"self":"b","peer":null}'),
        ]),
    ],
    [
      'lengths beyond its end',
      () => Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0, 1]), Buffer.alloc(8, 255)]),
    ],
    [
      'a head that is not JSON',
      () =>
        Buffer.concat([
          Buffer.from([2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0]),
          Buffer.from('x'),
        ]),
    ],
    ['parts that do not come', () => handMade({ kind: 'data', id: 'a', sizes: [10 ** 9] })],
    [
      'a part on a prototype',
      () =>
        handMade(
          { kind: 'call', id: 'a', name: 'keep', sizes: [1], at: [['__proto__', 'x']] },
          '{}',
          Buffer.from('x'),
        ),
    ],
    ['text', () => 'hello'],
    ['empty', () => Buffer.alloc(0)],
    ['a frame without a beginning', () => frame(7, { kind: 'end', id: 'x' })],
    ['a frame that is too short', () => Buffer.from([2, 0, 0, 0, 0, 0, 1, 0])],
    ['content that is not JSON', () => handMade({ kind: 'call', id: 'a', name: 'add' }, '{"n":')],
    ['an unknown kind of frame', () => handMade({ kind: 'toString', id: 'a' })],
    ['no id', () => handMade({ kind: 'call', name: 'add' }, '{}')],
    ['a negative offset', () => handMade({ kind: 'consumed', id: 'a', total: -1 })],
    ['a number beyond integers', () => handMade({ kind: 'consumed', id: 'a', total: 1e300 })],
    [
      'too many parts',
      () => handMade({ kind: 'call', id: 'a', name: 'add', sizes: Array(100).fill(0) }, '{}'),
    ],
    [
      'a part in place of a value',
      () =>
        handMade(
          { kind: 'call', id: 'a', name: 'keep', sizes: [1], at: [['value']] },
          '{"value":1}',
          Buffer.from('x'),
        ),
    ],
  ];
  it.each(sampled(6, messages))('%s closes its connection with a reason', async (_name, make) => {
    const { socket, closed } = await listening.greeted();
    socket.send(make());
    await closed;
    expect(listening.broken).toHaveLength(1);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  const harmless: [string, Buffer][] = [
    ['an acknowledgement of what was never sent', ackMessage(2 ** 48 - 1)],
    [
      'a call by the name of a prototype’s method',
      frame(1, { kind: 'call', id: 'a', name: 'constructor', input: {} }),
    ],
    [
      'the result of a call that was never made',
      frame(1, { kind: 'result', id: 'none', output: 1 }),
    ],
    ['a failure of no valid form', frame(1, { kind: 'fail', id: 'none', error: { toString: 1 } })],
    ['data of no stream', frame(1, { kind: 'data', id: 'none', bytes: Buffer.alloc(9) })],
    [
      'a stream by the name of a prototype’s method',
      frame(1, { kind: 'open', id: 'a', name: '__proto__', meta: {} }),
    ],
  ];
  it.each(sampled(2, harmless))('%s harms nothing', async (_name, bytes) => {
    const { socket } = await listening.greeted();
    const replies: string[] = [];
    socket.on('message', (reply: Buffer) => replies.push(reply.toString()));
    socket.send(bytes);
    const seq = bytes[0] === 2 ? 2 : 1;
    socket.send(frame(seq, { kind: 'call', id: 'good', name: 'add', input: { n: 1 } }));
    await until('the reply', () => replies.some((reply) => reply.includes('{"n":2}')));
    expect(listening.broken).toEqual([]);
  });
});

describe('attacks: connections', () => {
  it('10: half messages are kept for an accepted agent only, and of one connection', async () => {
    listening.authorize = async ({ id }) => {
      if (id !== 'the-agent-of-this-one') throw new AppError('forbidden', 'Another one.');
    };
    const body = Buffer.alloc(2 ** 20);
    const before = keptBytes();
    const half = Buffer.concat([Buffer.from([0x02, 0xff, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0, 0, 0])]);
    for (let count = 0; count < 40; count++) {
      const { socket } = await listening.raw();
      socket.write(
        'GET /agent HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n',
      );
      socket.write('sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n');
      socket.write('x-belay-agent: a-program-of-the-sandbox\r\n\r\n');
      socket.write(half);
      socket.write(body);
    }
    const agent = await listening.greeted('the-agent-of-this-one');
    expect(agent.socket.readyState).toBe(agent.socket.OPEN);
    expect(keptBytes() - before).toBeLessThan(16 * 2 ** 20);
  });

  itLong('10: fragments without end are bounded in number', async () => {
    const { socket, closed } = await listening.greeted();
    for (let count = 0; count < 1_000; count++) socket.send(Buffer.alloc(1), { fin: false });
    expect(await closed).toBe(1008);
  });

  it('11: 300 silent ones leave a few descriptors, and the agent is let in meanwhile', async () => {
    const count = await descriptors();
    const sockets: Socket[] = [];
    for (let made = 0; made < 300; made++) sockets.push((await listening.raw()).socket);
    await pause(1_100, 'connections of the second are dropped until it is over');
    const agent = listening.dial();
    expect(await agent.call('add', { n: 1 })).toEqual({ n: 2 });
    await until('a few are left', async () => {
      const open = sockets.filter(({ destroyed }) => !destroyed).length;
      return open <= limits.waitingConnections;
    });
    // Their own ends are in this process, too.
    expect((await descriptors()) - count).toBeLessThan(30);
  });

  itLong(
    '11: one that says nothing is closed within seconds, before and after it is let in',
    async () => {
      const { received } = await listening.raw();
      const { closed } = await listening.webSocket();
      await Promise.all([received, closed]);
    },
  );

  itLong('11: one that spoke while the server was too busy to read stays', async () => {
    const { socket, closed } = await listening.webSocket();
    socket.send(helloMessage('honest-process', null, 0));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, limits.helloTimeoutMs + 500);
    const connected = until('it is connected', () => listening.served[0]?.connected);
    await Promise.race([connected, closed]);
    expect(socket.readyState).toBe(socket.OPEN);
  });

  it('12: nothing is served before hello', async () => {
    const { socket, closed } = await listening.webSocket();
    socket.send(frame(1, { kind: 'call', id: 'a', name: 'add', input: { n: 1 } }));
    await closed;
    expect(listening.broken).toEqual(['a message came before hello']);
  });

  it('26: an id that is not the agent’s gets a refusal, and no WebSocket', async () => {
    listening.authorize = async ({ id }) => {
      if (id.startsWith('hostile')) throw new AppError('forbidden', 'Only the agent may connect.');
    };
    const agent = listening.dial();
    await agent.call('add', { n: 1 });
    const { socket } = await listening.webSocket();
    expect(socket.readyState).not.toBe(socket.OPEN);
    expect(await agent.call('add', { n: 2 })).toEqual({ n: 3 });
  });

  it('41: a second dial with the agent’s id neither joins nor replaces it', async () => {
    const id = 'the-id-that-was-stolen';
    const first = await listening.greeted(id);
    await until('it is connected', () => listening.served[0]?.connected);
    const second = await listening.webSocket(id);
    expect(second.socket.readyState).not.toBe(second.socket.OPEN);
    expect(first.socket.readyState).toBe(first.socket.OPEN);
    expect(listening.served).toHaveLength(1);
    // When the first is gone, another process with the id cannot continue what it began.
    first.socket.terminate();
    await until('it is gone', () => listening.served[0]?.connected === false);
    const third = await listening.webSocket(id);
    third.socket.send(
      Buffer.concat([
        Buffer.from([1, 0, 0, 0, 0, 0, 0]),
        Buffer.from('{"self":"thief","peer":null}'),
      ]),
    );
    await third.closed;
    expect(listening.broken).toEqual(['a hello came from another process']);
  });

  itLong(
    '41: across a network a second dial takes the place of one that is silent, of no other',
    async () => {
      const far = await Listening.open({ dropsSilent: true });
      try {
        const id = 'the-id-that-was-stolen';
        const first = await far.greeted(id);
        await until('it is connected', () => far.served[0]?.connected);
        const second = await far.webSocket(id);
        expect(second.socket.readyState).not.toBe(second.socket.OPEN);
        expect(first.socket.readyState).toBe(first.socket.OPEN);
        // As one whose machine is gone: it reads nothing, and nothing says so.
        first.socket.pause();
        const third = await far.webSocket(id);
        expect(third.socket.readyState).toBe(third.socket.OPEN);
        first.socket.resume();
        await first.closed;
        third.socket.send(helloMessage('hostile-process', null, 0));
        await until('it goes on', () => far.served[0]?.connected);
        expect(far.served).toHaveLength(1);
      } finally {
        await far.close();
      }
    },
  );

  it('41: on the socket of a sandbox none takes the place of another, silent or not', async () => {
    const id = 'the-id-that-was-stolen';
    const first = await listening.greeted(id);
    await until('it is connected', () => listening.served[0]?.connected);
    first.socket.pause();
    const second = await listening.webSocket(id);
    expect(second.socket.readyState).not.toBe(second.socket.OPEN);
    first.socket.resume();
    expect(first.socket.readyState).toBe(first.socket.OPEN);
  });

  const requests: [string, string][] = [
    ['noise', '\0\xff\x10 noise\r\n\r\n'],
    [
      'another upgrade',
      'GET /agent HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\nx-belay-agent: hostile-program-01\r\n\r\n',
    ],
    [
      'a page’s origin',
      'GET /agent HTTP/1.1\r\nhost: a\r\norigin: http://a\r\nconnection: upgrade\r\nupgrade: websocket\r\nx-belay-agent: hostile-program-01\r\n\r\n',
    ],
    [
      'a path that is not a URL',
      'GET //%% HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    ],
    [
      'no key',
      'GET /agent HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nx-belay-agent: hostile-program-01\r\n\r\n',
    ],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['a body without end', 'POST /agent HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999\r\n\r\n'],
    ['headers of 100 KiB', `GET /agent HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`],
  ];
  it.each(sampled(3, requests))('raw HTTP: %s is refused', async (_name, text) => {
    const { socket, received } = await listening.raw();
    socket.write(text, 'latin1');
    expect(await received).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
    expect(listening.served).toEqual([]);
  });

  it('raw frames: a wrong opcode, a reserved bit and a wrong mask close the connection', async () => {
    for (const bytes of [
      [0x8f, 0x80, 0, 0, 0, 0],
      [0xf2, 0x80, 0, 0, 0, 0],
      [0x82, 0x01, 0],
      [0x82, 0xff, 255, 255, 255, 255, 255, 255, 255, 255],
    ]) {
      const { socket, closed } = await listening.greeted();
      (socket as unknown as { _socket: NodeJS.WritableStream })._socket.write(Buffer.from(bytes));
      await closed;
    }
    expect(listening.broken.length).toBeGreaterThan(0);
  });
});

describe('attacks: rates and queues', () => {
  it('a flood of messages waits in the kernel, and pings are not answered', async () => {
    const { socket } = await listening.greeted();
    const before = keptBytes();
    let pongs = 0;
    socket.on('pong', () => pongs++);
    // At the limit of the rate these take longer to be read than the honest call may.
    for (let count = 0; count < 120_000; count++) socket.send(ackMessage(0));
    for (let count = 0; count < 1_000; count++) socket.ping();
    await answersPromptly();
    expect(socket.bufferedAmount).toBeGreaterThan(0);
    expect(keptBytes() - before).toBeLessThan(64 * 2 ** 20);
    expect(pongs).toBe(0);
  });

  it('calls beyond the limits are refused, and the connection goes on', async () => {
    const agent = listening.dial();
    await agent.call('add', { n: 1 });
    listening.served[0]?.serve({
      add: async ({ n }) => ({ n: n + 1 }),
      keep: () => new Promise(() => {}),
    });
    const abort = new AbortController();
    const calls = Array.from({ length: limits.parallelCalls + 50 }, () =>
      agent
        .call('keep', { value: null }, { signal: abort.signal })
        .catch((error: AppError) => error.code),
    );
    expect(await Promise.race(calls)).toBe('limit_reached');
    abort.abort();
    await Promise.all(calls);
  });

  itLong(
    'single bytes of a stream that nobody reads take little more than themselves',
    async () => {
      const agent = listening.dial();
      await agent.call('add', { n: 1 });
      listening.served[0]?.accept('terminal', async () => {});
      const before = keptBytes();
      const stream = await agent.open('terminal', { terminal: 'main', offset: 0 });
      for (let count = 0; count < 60_000; count++) stream.write('x');
      await agent.call('add', { n: 2 });
      expect(keptBytes() - before).toBeLessThan(5 * 2 ** 20);
    },
  );
});

async function descriptors(): Promise<number> {
  return (await readdir('/proc/self/fd')).length;
}
