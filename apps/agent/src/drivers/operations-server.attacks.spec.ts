import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { staysTrue, until } from '@belay/testing';
import { OperationsServer } from './operations-server.js';

let server: OperationsServer;
let lists = 0;
const sockets: Socket[] = [];

beforeEach(async () => {
  lists = 0;
  const tool = { name: 'files_read', description: 'x'.repeat(100_000), parameters: {} };
  const tools = () => {
    lists += 1;
    return [tool];
  };
  server = await OperationsServer.start({
    calls: { tools, call: () => Promise.reject(new Error('not called')) },
    turn: () => undefined,
    connection: { call: () => Promise.reject(new Error('not called')) },
  } as never);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

async function open(): Promise<Socket> {
  const socket = connect(String(server.command.args.at(-1)));
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

const line = (id: number, method: string, params: string) =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`;

/** What the server answers to this line. */
async function answerTo(socket: Socket, sent: string): Promise<unknown> {
  socket.write(sent);
  const [answered] = (await once(createInterface({ input: socket }), 'line')) as [string];
  return JSON.parse(answered);
}

describe('attacks: the socket of Belay’s operations', () => {
  it('has at most 32 connections', async () => {
    const first = await open();
    for (let count = 1; count < 32; count += 1) await open();
    expect(await answerTo(first, line(1, 'ping', '{}'))).toMatchObject({ id: 1, result: {} });
    const more = await open();
    more.resume();
    await once(more, 'close');
    first.destroy();
    await until('one is free', async () => {
      const next = await open();
      const answered = once(next, 'data').then(() => true);
      const closed = once(next, 'close').then(() => false);
      next.write(line(2, 'ping', '{}'));
      return Promise.race([answered, closed]).catch(() => false);
    });
  });

  it('answers no more requests of a program that does not read', async () => {
    const socket = await open();
    const requests = Array.from({ length: 1_000 }, (_, id) => line(id, 'tools/list', '{}'));
    socket.write(requests.join(''));
    await until('it has begun', () => lists > 0);
    await staysTrue('most requests wait', 300, () => lists < 100);
    let read = 0;
    createInterface({ input: socket }).on('line', () => (read += 1));
    await until('all are answered', () => read === 1_000);
  });

  it('refuses a request that is nested too deeply, and goes on', async () => {
    const deep = `{"cursor":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    const socket = await open();
    socket.write(line(1, 'tools/list', deep));
    expect(await answerTo(socket, line(2, 'ping', '{}'))).toBeDefined();
    expect(lists).toBe(0);
  });
});
