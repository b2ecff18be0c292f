import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@belay/protocol';
import { freePort, until } from '@belay/testing';
import { z } from 'zod';
import { agentHeader, agentPath, dialRpc } from './dial.js';
import { relayAgent, type Relay } from './relay.js';
import { rpcServer, type RpcCaller } from './server.js';

const serves = { add: { input: z.object({ n: z.int() }), output: z.object({ calls: z.int() }) } };

describe('an agent behind a relay', () => {
  let folder: string;
  let server: Server;
  let front: Server;
  let relay: Relay;
  let url: URL;
  let sockets: Set<Socket>;
  let callers: RpcCaller[];
  let seen: string[];
  let refusal: AppError | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-'));
    sockets = new Set();
    callers = [];
    seen = [];
    refusal = undefined;
    server = createServer();
    server.on('connection', (socket: Socket) => sockets.add(socket));
    rpcServer({
      server,
      serves,
      calls: {},
      authorize: async (caller) => {
        callers.push(caller);
        if (refusal) throw refusal;
      },
      onConnection: (connection) =>
        connection.serve({
          add: async ({ n }) => {
            seen.push(String(n));
            return { calls: seen.length };
          },
        }),
    });
    const port = await freePort();
    await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
    url = new URL(`http://127.0.0.1:${port}`);
    front = createServer();
    relay = relayAgent({ server: front, url, token: 'the-token-of-the-machine', container: 'c1' });
    await new Promise<void>((done) => front.listen(join(folder, 'agent.sock'), done));
  });
  afterEach(async () => {
    relay.close();
    front.closeAllConnections();
    front.close();
    for (const socket of sockets) socket.destroy();
    server.close();
    await rm(folder, { recursive: true });
  });
  const dial = () =>
    dialRpc({ address: `unix:${join(folder, 'agent.sock')}`, serves: {}, calls: serves });

  it('is known by the token that it has not, and goes on exactly after the connection is cut', async () => {
    const agent = dial();
    await expect(agent.call('add', { n: 0 })).resolves.toEqual({ calls: 1 });
    const calls = [1, 2, 3, 4, 5].map((n) => agent.call('add', { n }));
    for (const socket of sockets) socket.destroy();
    await Promise.all(calls);
    expect(seen.toSorted()).toEqual(['0', '1', '2', '3', '4', '5']);
    expect(callers.map(({ token }) => token)).toEqual(['the-token-of-the-machine']);
    await agent.close();
  });

  it('is told why the server refuses it, and ends', async () => {
    refusal = new AppError('unauthorized', 'This token is not valid, or was revoked.');
    await expect(dial().call('add', { n: 1 })).rejects.toMatchObject(refusal);
  });

  it('waits for a server that is not there', async () => {
    const { port } = server.address() as AddressInfo;
    server.close();
    const agent = dial();
    const call = agent.call('add', { n: 7 });
    server.listen(port, '127.0.0.1');
    await expect(call).resolves.toEqual({ calls: 1 });
    await agent.close();
  });

  it('attacks: reaches no other path of the server, and says nothing for itself', async () => {
    const paths: string[] = [];
    server.on('request', ({ url: path }) => paths.push(String(path)));
    server.prependListener('upgrade', ({ url: path, headers }) =>
      paths.push(`${path} ${headers.authorization} ${headers.cookie}`),
    );
    const upgrade = (path: string) =>
      new Promise<number | undefined>((done) => {
        const asked = request({
          socketPath: join(folder, 'agent.sock'),
          path,
          headers: {
            connection: 'Upgrade',
            upgrade: 'websocket',
            'sec-websocket-version': '13',
            'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
            [agentHeader]: 'a program of the sandbox',
            authorization: 'Bearer another',
            cookie: 'a=b',
          },
        });
        asked.on('response', (response) => done(response.resume().statusCode));
        asked.on('upgrade', (response, socket) => {
          socket.destroy();
          done(response.statusCode);
        });
        asked.end();
      });
    expect(await upgrade('/live')).toBe(404);
    expect(await upgrade(agentPath)).toBe(101);
    expect(paths).toEqual([`${agentPath} Bearer the-token-of-the-machine undefined`]);
    // What is not a request for a connection is answered here.
    const plain = connect(join(folder, 'agent.sock'));
    plain.write('GET /api/sessions HTTP/1.1\r\nhost: x\r\n\r\n');
    const [answer] = (await once(plain, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 426 /);
    plain.destroy();
    expect(paths).toHaveLength(1);
  });

  it('attacks: has no second connection while there is one, whether or not that answers', async () => {
    const id = 'the-id-that-was-stolen';
    const upgrade = () =>
      new Promise<{ status: number | undefined; socket?: Duplex }>((done) => {
        const asked = request({
          socketPath: join(folder, 'agent.sock'),
          path: agentPath,
          headers: {
            connection: 'Upgrade',
            upgrade: 'websocket',
            'sec-websocket-version': '13',
            'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
            [agentHeader]: id,
          },
        });
        asked.on('response', (response) => done({ status: response.resume().statusCode }));
        asked.on('upgrade', ({ statusCode: status }, socket) => done({ status, socket }));
        asked.end();
      });
    const first = await upgrade();
    expect(first.status).toBe(101);
    expect((await upgrade()).status).toBe(409);
    expect(callers).toHaveLength(1);
    // A positive control: once it is gone, the agent is let in again.
    first.socket?.destroy();
    await until('it is let in', async () => {
      const { status, socket } = await upgrade();
      socket?.destroy();
      return status === 101;
    });
  });

  it('attacks: has few connections at once', async () => {
    const open = Array.from({ length: 8 }, () => dial());
    let served = 0;
    const outcomes = open.map((agent) =>
      agent.call('add', { n: 1 }).then(
        () => void (served += 1),
        () => undefined,
      ),
    );
    await until('four are served', () => served === 4);
    await Promise.all([...open.map((agent) => agent.close()), ...outcomes]);
    expect(served).toBe(4);
  });
});
