import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import {
  connect,
  createServer as createTcp,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { dialRope } from './dial.js';
import type { Rope, RopeStream } from './rope.js';
import { ropeServer, type RopeServer, type RopeServerOptions } from './server.js';

const contracts = {
  server: { add: { input: z.object({ n: z.int() }), output: z.object({ calls: z.int() }) } },
  agent: { twice: { input: z.object({ n: z.int() }), output: z.object({ n: z.int() }) } },
};
type ServerRope = Rope<typeof contracts.server, typeof contracts.agent>;
type AgentRope = Rope<typeof contracts.agent, typeof contracts.server>;
type Options = RopeServerOptions<typeof contracts.server, typeof contracts.agent>;

let folder: string;
const clean: (() => Promise<unknown> | void)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rope-'));
});
afterEach(async () => {
  for (const task of clean.splice(0).reverse()) await task();
  await rm(folder, { recursive: true });
});

async function listen(path: string, options: Partial<Options>): Promise<RopeServer> {
  const server: Server = createServer();
  const ropes = await ropeServer({
    server,
    serves: contracts.server,
    calls: contracts.agent,
    onRope: () => {},
    ...options,
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  clean.push(async () => {
    ropes.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return ropes;
}

function dial(path: string, token?: string): AgentRope {
  const rope = dialRope({
    address: `unix:${path}`,
    token,
    serves: contracts.agent,
    calls: contracts.server,
  });
  clean.push(() => rope.close());
  return rope;
}

/** A relay whose connections can be cut. */
async function relay(to: string): Promise<{ path: string; cut(): void }> {
  const path = join(folder, 'relay.sock');
  const sockets = new Set<Socket>();
  const server: TcpServer = createTcp((socket) => {
    const onward = connect(to);
    for (const one of [socket, onward]) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        (one === socket ? onward : socket).destroy();
      });
    }
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  clean.push(() => new Promise((resolve) => server.close(resolve)));
  return { path, cut: () => sockets.forEach((socket) => socket.destroy()) };
}

/** Every byte of `size`, distinguishable by its place. */
function pattern(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i + 4 <= size; i += 4) bytes.writeUInt32LE(i, i);
  return bytes;
}

async function collect(stream: RopeStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

it('calls both ways and streams over a Unix socket', async () => {
  const path = join(folder, 'rope.sock');
  const ropes = Promise.withResolvers<ServerRope>();
  const bytes = Promise.withResolvers<Buffer>();
  await listen(path, {
    onRope(rope) {
      rope.serve({ add: async ({ n }) => ({ calls: n }) });
      rope.accept('terminal', async (_meta, stream) => {
        void collect(stream).then(bytes.resolve);
      });
      ropes.resolve(rope);
    },
  });
  const agent = dial(path);
  agent.serve({ twice: async ({ n }) => ({ n: 2 * n }) });
  expect(await agent.call('add', { n: 4 })).toEqual({ calls: 4 });
  expect(await (await ropes.promise).call('twice', { n: 4 })).toEqual({ n: 8 });
  const stream = await agent.open('terminal', { terminal: 'main', offset: 0 });
  const sent = randomBytes(5 * 2 ** 20);
  stream.end(sent);
  expect((await bytes.promise).equals(sent)).toBe(true);
});

it('is dialled before anybody listens, and again by the same name after that server is gone', async () => {
  const path = join(folder, 'rope.sock');
  const agent = dial(path);
  const early = agent.call('add', { n: 1 });
  const serve = (rope: ServerRope): void => rope.serve({ add: async ({ n }) => ({ calls: n }) });
  await listen(path, { onRope: serve });
  expect(await early).toEqual({ calls: 1 });
});

it('refuses for good who has no valid token, and knows who comes back', async () => {
  const path = join(folder, 'rope.sock');
  const tokens = new Set(['once']);
  let ropes = 0;
  await listen(path, {
    onRope(rope) {
      ropes++;
      rope.serve({ add: async ({ n }) => ({ calls: n }) });
    },
    authorize: async ({ token }) => {
      if (!token || !tokens.delete(token)) throw new AppError('unauthorized', 'Not you.');
    },
  });
  const through = await relay(path);
  const agent = dial(through.path, 'once');
  expect(await agent.call('add', { n: 1 })).toEqual({ calls: 1 });
  through.cut();
  expect(await agent.call('add', { n: 2 })).toEqual({ calls: 2 });
  expect(ropes).toBe(1);
  const stranger = dial(path, 'once');
  const closed = new Promise<void>((resolve) => stranger.on('closed', resolve));
  await expect(stranger.call('add', { n: 1 })).rejects.toMatchObject({ code: 'unauthorized' });
  await closed;
});

it('loses and doubles nothing over a thousand breaks', async () => {
  const path = join(folder, 'rope.sock');
  const size = 24 * 2 ** 20;
  const seen: number[] = [];
  const up = Promise.withResolvers<Buffer>();
  const ropes = Promise.withResolvers<ServerRope>();
  await listen(path, {
    onRope(rope) {
      rope.serve({
        add: async ({ n }) => {
          seen.push(n);
          return { calls: n };
        },
      });
      rope.accept('terminal', async (_meta, stream) => {
        void collect(stream).then(up.resolve);
      });
      ropes.resolve(rope);
    },
  });
  const through = await relay(path);
  const agent = dial(through.path);
  const down = Promise.withResolvers<Buffer>();
  agent.accept('workspace.import', async (_meta, stream) => {
    void collect(stream).then(down.resolve);
  });
  const breaks = { left: 1_000, done: false };
  const sent = pattern(size);
  const far = await (await ropes.promise).open('workspace.import', {});
  const near = await agent.open('terminal', { terminal: 'main', offset: 0 });

  const breaking = (async () => {
    while (breaks.left > 0) {
      if (!agent.connected) {
        await new Promise<void>((resolve) => agent.on('connected', resolve));
      }
      // Somewhere in the middle of what is on its way.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
      through.cut();
      breaks.left--;
    }
    breaks.done = true;
  })();
  const writing = [near, far].map(async (stream) => {
    for (let at = 0; at < size; at += 24_000) {
      const flowing = stream.write(sent.subarray(at, at + 24_000));
      if (!flowing) await once(stream, 'drain');
    }
    stream.end();
  });
  let calls = 0;
  while (!breaks.done) expect(await agent.call('add', { n: ++calls })).toEqual({ calls });
  await Promise.all([breaking, ...writing]);
  expect((await up.promise).equals(sent)).toBe(true);
  expect((await down.promise).equals(sent)).toBe(true);
  expect(seen).toEqual(Array.from({ length: calls }, (_, index) => index + 1));
}, 240_000);
