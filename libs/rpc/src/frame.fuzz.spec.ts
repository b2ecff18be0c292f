import fc from 'fast-check';
import { until } from '@belay/testing';
import { decode, encode, type Frame } from './frame.js';
import { headerBytes, helloMessage, numberFrame, readMessage } from './message.js';
import { memoryConnections } from './memory-connections.js';
import { jsonTextFault } from './json-text-fault.js';
import { Listening } from './testing/listening.js';

/** Fixed, so that a failure is the same everywhere; FUZZ_SEED and FUZZ_RUNS search elsewhere and longer. */
const settings = {
  seed: Number(process.env['FUZZ_SEED'] ?? 20_261_122),
  numRuns: Number(process.env['FUZZ_RUNS'] ?? 300),
};

const id = fc.string({ minLength: 1, maxLength: 100 });
const bytes = fc.uint8Array({ maxLength: 64 });
/** Any JSON, with keys of prototypes, and binary values in between. */
const content = fc.anything({
  key: fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString', 'then')),
  values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null), bytes],
  maxDepth: 6,
  withObjectString: false,
  withNullPrototype: false,
});
const total = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const frames: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({ kind: fc.constant('call' as const), id, name: id, input: content }),
  fc.record({ kind: fc.constant('open' as const), id, name: id, meta: content }),
  fc.record({ kind: fc.constant('result' as const), id, output: content }),
  fc.record({
    kind: fc.constantFrom('fail' as const, 'refused' as const, 'reset' as const),
    id,
    error: content,
  }),
  fc.record({ kind: fc.constantFrom('cancel' as const, 'accepted' as const, 'end' as const), id }),
  fc.record({ kind: fc.constant('data' as const), id, bytes }),
  fc.record({ kind: fc.constant('consumed' as const), id, total }),
);

/** As it arrives: binary values as Buffers, and what JSON changes (-0). */
const arrived = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return [...value];
  if (Array.isArray(value)) return value.map(arrived);
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value;
  return Object.entries(value).map(([key, inner]) => [key, arrived(inner)]);
};

/** Throws an `Error` or returns; anything else is a fault of the reader. */
const attempt = (read: () => unknown): void => {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(RangeError);
    expect(error).not.toBeInstanceOf(TypeError);
  }
};

describe('fuzz: frames', () => {
  it('arrive as they were sent', () => {
    fc.assert(
      fc.property(frames, (frame) => {
        const message = readMessage(numberFrame(encode(frame), 7));
        if (message.kind !== 'frame') throw new Error('It is not a frame.');
        const { frame: received, fault } = decode(message.frame);
        expect(fault).toBeUndefined();
        expect(arrived(received)).toEqual(arrived(frame));
      }),
      settings,
    );
  });

  it('of any bytes throw an error or are frames', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 512 }), (any) => {
        attempt(() => readMessage(Buffer.from(any)));
        attempt(() => decode(Buffer.from(any)));
      }),
      settings,
    );
  });

  it('with any change of a byte throw an error or are frames', () => {
    const change = fc.tuple(fc.nat(), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(frames, fc.array(change, { minLength: 1, maxLength: 4 }), (frame, changes) => {
        const encoded = encode(frame);
        for (const [at, byte] of changes) encoded[at % encoded.length] = byte;
        attempt(() => decode(encoded.subarray(headerBytes)));
      }),
      settings,
    );
  });

  it('with any JSON as their head throw an error or are frames', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), fc.json({ maxDepth: 8 }), (head, json) => {
        const start = Buffer.alloc(8);
        start.writeUInt32BE(Buffer.byteLength(head), 0);
        start.writeUInt32BE(Buffer.byteLength(json), 4);
        attempt(() => decode(Buffer.concat([start, Buffer.from(head), Buffer.from(json)])));
      }),
      settings,
    );
  });

  it('are measured as a parser would', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 10 }), (value) => {
        expect(jsonTextFault(Buffer.from(JSON.stringify(value)))).toBeUndefined();
        const deep = `${'{"a":['.repeat(41)}${JSON.stringify(value)}${']}'.repeat(41)}`;
        expect(jsonTextFault(Buffer.from(deep))).toContain('nested');
      }),
      settings,
    );
  });
});

describe('fuzz: connections', () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  beforeEach(() => void process.on('uncaughtException', note).on('unhandledRejection', note));
  afterEach(() => {
    process.off('uncaughtException', note).off('unhandledRejection', note);
    expect(uncaught.splice(0)).toEqual([]);
  });

  it('take any frames of an accepted agent, and serve the next one', async () => {
    const listening = await Listening.open();
    try {
      const control = listening.dial();
      await fc.assert(
        fc.asyncProperty(fc.array(frames, { minLength: 1, maxLength: 20 }), async (many) => {
          const { socket, closed } = await listening.greeted('hostile-program-0001');
          many.forEach((frame, index) => socket.send(numberFrame(encode(frame), index + 1)));
          socket.close();
          await closed;
          expect(await control.call('add', { n: 1 })).toEqual({ n: 2 });
        }),
        { ...settings, numRuns: Math.min(settings.numRuns, 40) },
      );
    } finally {
      await listening.close();
    }
  });

  it('take any bytes before and after hello', async () => {
    const listening = await Listening.open();
    try {
      const control = listening.dial();
      await fc.assert(
        fc.asyncProperty(
          fc.array(bytes, { minLength: 1, maxLength: 5 }),
          fc.boolean(),
          async (many, greets) => {
            const { socket, closed } = await listening.webSocket(`hostile-program-${greets}-1`);
            if (greets) socket.send(helloMessage('x', null, 0));
            for (const each of many) socket.send(each);
            socket.close();
            await closed;
            expect(await control.call('add', { n: 1 })).toEqual({ n: 2 });
          },
        ),
        { ...settings, numRuns: Math.min(settings.numRuns, 40) },
      );
    } finally {
      await listening.close();
    }
  });

  it('carry any bytes of a stream through breaks, each once', async () => {
    const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 20_000 }), {
      minLength: 1,
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(
        pieces,
        fc.array(fc.nat({ max: 20 }), { maxLength: 3 }),
        async (sent, breaks) => {
          const both = memoryConnections({ server: {}, agent: {} });
          const got: Buffer[] = [];
          both.server.accept('terminal', async (_meta, stream) => {
            stream.on('data', (chunk: Buffer) => got.push(Buffer.from(chunk)));
          });
          const stream = await both.agent.open('terminal', { terminal: 'main', offset: 0 });
          sent.forEach((piece, index) => {
            stream.write(piece);
            if (breaks.includes(index)) both.reconnect();
          });
          const all = Buffer.concat(sent);
          await until('all arrived', () => Buffer.concat(got).length >= all.length);
          expect(Buffer.concat(got).equals(all)).toBe(true);
          stream.destroy();
        },
      ),
      { ...settings, numRuns: Math.min(settings.numRuns, 60) },
    );
  });
});
