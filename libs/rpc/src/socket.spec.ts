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
import { itLong, pause, sampled, until } from '@belay/testing';
import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { dialRpc } from './dial.js';
import type { RpcConnection, RpcStream } from './connection.js';
import { rpcServer, type RpcServer, type RpcServerOptions } from './server.js';

const contracts = {
  server: { add: { input: z.object({ n: z.int() }), output: z.object({ calls: z.int() }) } },
  agent: { twice: { input: z.object({ n: z.int() }), output: z.object({ n: z.int() }) } },
};
type ServerConnection = RpcConnection<typeof contracts.server, typeof contracts.agent>;
type AgentConnection = RpcConnection<typeof contracts.agent, typeof contracts.server>;
type Options = RpcServerOptions<typeof contracts.server, typeof contracts.agent>;

let folder: string;
const cleanUps: (() => Promise<unknown> | void)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'connection-'));
});
afterEach(async () => {
  for (const task of cleanUps.splice(0).reverse()) await task();
  await rm(folder, { recursive: true });
});

async function listen(path: string, options: Partial<Options>): Promise<RpcServer> {
  const server: Server = createServer();
  const connections = rpcServer({
    server,
    serves: contracts.server,
    calls: contracts.agent,
    onConnection: () => {},
    ...options,
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  cleanUps.push(async () => {
    connections.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return connections;
}

function dial(path: string, token?: string): AgentConnection {
  const connection = dialRpc({
    address: `unix:${path}`,
    token,
    serves: contracts.agent,
    calls: contracts.server,
  });
  cleanUps.push(() => connection.close());
  return connection;
}

interface Relay {
  path: string;
  /** Ends its connections. */
  cut(): void;
  /** From now on, nothing more arrives over its connections, and nothing says so. */
  freeze(): void;
  /** As a process that is stopped: as `freeze`, and nothing arrives over new ones either. */
  stop(): void;
  /** New connections get through again. */
  replace(): void;
  /** Those that were accepted so far. */
  readonly accepted: number;
}

async function relay(to: string, name = 'relay.sock'): Promise<Relay> {
  const path = join(folder, name);
  const sockets = new Set<Socket>();
  let isStopped = false;
  let accepted = 0;
  const server: TcpServer = createTcp((socket) => {
    accepted += 1;
    if (isStopped) return void sockets.add(socket.on('error', () => {}));
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
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  cleanUps.push(() => {
    cut();
    return new Promise((resolve) => server.close(resolve));
  });
  const freeze = (): void => sockets.forEach((socket) => socket.unpipe().pause());
  return {
    path,
    cut,
    freeze,
    stop() {
      isStopped = true;
      freeze();
    },
    replace: () => (isStopped = false),
    get accepted() {
      return accepted;
    },
  };
}

/** `size` bytes whose content tells their offset. */
function pattern(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i + 4 <= size; i += 4) bytes.writeUInt32LE(i, i);
  return bytes;
}

async function collect(stream: RpcStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

it('calls both ways and streams over a Unix socket', async () => {
  const path = join(folder, 'agent.sock');
  const connections = Promise.withResolvers<ServerConnection>();
  const bytes = Promise.withResolvers<Buffer>();
  await listen(path, {
    onConnection(connection) {
      connection.serve({ add: async ({ n }) => ({ calls: n }) });
      connection.accept('terminal', async (_meta, stream) => {
        void collect(stream).then(bytes.resolve);
      });
      connections.resolve(connection);
    },
  });
  const agent = dial(path);
  agent.serve({ twice: async ({ n }) => ({ n: 2 * n }) });
  expect(await agent.call('add', { n: 4 })).toEqual({ calls: 4 });
  expect(await (await connections.promise).call('twice', { n: 4 })).toEqual({ n: 8 });
  const stream = await agent.open('terminal', { terminal: 'main', offset: 0 });
  const sent = randomBytes(5 * 2 ** 20);
  stream.end(sent);
  expect((await bytes.promise).equals(sent)).toBe(true);
});

itLong('notices on both sides that a network has failed silently, and goes on', async () => {
  const path = join(folder, 'agent.sock');
  const connections = Promise.withResolvers<ServerConnection>();
  await listen(path, { dropsSilent: true, onConnection: connections.resolve });
  const between = await relay(path);
  const agent = dial(between.path);
  agent.serve({ twice: async ({ n }) => ({ n: 2 * n }) });
  const server = await connections.promise;
  expect(await server.call('twice', { n: 1 })).toEqual({ n: 2 });
  const lost = Promise.all(
    [server, agent].map((one) => new Promise<void>((resolve) => one.on('disconnected', resolve))),
  );
  between.freeze();
  const late = server.call('twice', { n: 2 });
  await lost;
  expect(await late).toEqual({ n: 4 });
});

itLong('leaves a server that is stopped, because another one takes its place', async () => {
  const path = join(folder, 'agent.sock');
  await listen(path, { isReplaceable: true, onConnection: () => {} });
  const between = await relay(path);
  const agent = dial(between.path);
  await until('it is connected', () => agent.connected);
  between.stop();
  await until('it has left', () => !agent.connected);
  await until('it dials the one that is stopped', () => between.accepted === 2);
  between.replace();
  await until('it has found the next one', () => agent.connected);
});

it('may be dialled before the server listens', async () => {
  const path = join(folder, 'agent.sock');
  const agent = dial(path);
  const early = agent.call('add', { n: 1 });
  const serve = (connection: ServerConnection): void =>
    connection.serve({ add: async ({ n }) => ({ calls: n }) });
  await listen(path, { onConnection: serve });
  expect(await early).toEqual({ calls: 1 });
});

it('rejects an agent without a valid token, and recognises one that reconnects', async () => {
  const path = join(folder, 'agent.sock');
  const tokens = new Set(['once']);
  let connections = 0;
  await listen(path, {
    onConnection(connection) {
      connections++;
      connection.serve({ add: async ({ n }) => ({ calls: n }) });
    },
    authorize: async ({ token }) => {
      if (!token || !tokens.delete(token))
        throw new AppError('unauthorized', 'The token is not valid.');
    },
  });
  const through = await relay(path);
  const agent = dial(through.path, 'once');
  expect(await agent.call('add', { n: 1 })).toEqual({ calls: 1 });
  through.cut();
  expect(await agent.call('add', { n: 2 })).toEqual({ calls: 2 });
  expect(connections).toBe(1);
  const stranger = dial(path, 'once');
  const closed = new Promise<void>((resolve) => stranger.on('closed', resolve));
  await expect(stranger.call('add', { n: 1 })).rejects.toMatchObject({ code: 'unauthorized' });
  await closed;
});

// Most of its time a broken connection waits to be dialled again, so several of them are broken meanwhile.
it.each(
  sampled(1, [
    [100, 4],
    [1_000, 10],
  ]),
)('loses and duplicates nothing across %i breaks of %i connections', async (times, count) => {
  const names = Array.from({ length: count }, (_, at) => `connection-${at}`);
  await Promise.all(names.map((name) => breakOften(name, times / count)));
});

async function breakOften(name: string, times: number): Promise<void> {
  const path = join(folder, `${name}.sock`);
  const size = 6 * 2 ** 20;
  const seen: number[] = [];
  const up = Promise.withResolvers<Buffer>();
  const connections = Promise.withResolvers<ServerConnection>();
  await listen(path, {
    onConnection(connection) {
      connection.serve({
        add: async ({ n }) => {
          seen.push(n);
          return { calls: n };
        },
      });
      connection.accept('terminal', async (_meta, stream) => {
        void collect(stream).then(up.resolve);
      });
      connections.resolve(connection);
    },
  });
  const through = await relay(path, `${name}-relay.sock`);
  const agent = dial(through.path);
  const down = Promise.withResolvers<Buffer>();
  agent.accept('workspace.import', async (_meta, stream) => {
    void collect(stream).then(down.resolve);
  });
  const breaks = { left: times, done: false };
  const sent = pattern(size);
  const far = await (await connections.promise).open('workspace.import', {});
  const near = await agent.open('terminal', { terminal: 'main', offset: 0 });

  let onConnected = () => {};
  agent.on('connected', () => onConnected());
  const breaking = (async () => {
    while (breaks.left > 0) {
      if (!agent.connected) await new Promise<void>((resolve) => (onConnected = resolve));
      await pause(Math.random() * 4, 'breaks come at any moment of the messages in flight');
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
}
