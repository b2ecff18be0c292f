import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { ignoreError } from '@belay/protocol';
import { freePort, PostgresCluster, until } from '@belay/testing';
import { untilConnected } from './until-connected.js';

describe('a server that starts', () => {
  let cluster: PostgresCluster;
  let url: URL;
  let port: number;
  const said: string[] = [];
  const listeners: Server[] = [];
  const sockets = new Set<Socket>();
  beforeAll(async () => void (cluster = await PostgresCluster.start()));
  beforeEach(async () => {
    said.length = 0;
    url = new URL(await cluster.database());
    port = await freePort();
  });
  afterEach(() => {
    for (const listener of listeners.splice(0)) listener.close();
    for (const socket of sockets) socket.destroy();
  });
  afterAll(() => cluster.stop());

  /** The cluster’s database through a port of TCP, where nothing may listen. */
  const behindPort = (): string => {
    const behind = new URL(url);
    behind.search = '';
    behind.port = `${port}`;
    behind.hostname = '127.0.0.1';
    behind.password = 'secret';
    return behind.href;
  };
  async function listen(accepted: (socket: Socket) => void): Promise<Server> {
    const listener = createServer((socket) => {
      sockets.add(socket.on('error', ignoreError('it was destroyed')));
      accepted(socket);
    });
    listeners.push(listener);
    await once(listener.listen(port, '127.0.0.1'), 'listening');
    return listener;
  }
  const passOn = (socket: Socket): void => {
    const database = connect(`${url.searchParams.get('host')}/.s.PGSQL.5432`);
    sockets.add(database.on('error', ignoreError('it was destroyed')));
    socket.pipe(database).pipe(socket);
  };
  const connected = (to: string) => untilConnected(to, (sentence) => said.push(sentence));

  it('waits until its database accepts connections', async () => {
    const waited = connected(behindPort());
    await until('it says so', () => said.length > 0);
    expect(said).toEqual([
      `PostgreSQL at 127.0.0.1:${port} does not respond (connect ECONNREFUSED 127.0.0.1:${port}): this server waits until it does. Start it, or correct DATABASE_URL.`,
    ]);
    await listen(passOn);
    await waited;
  });

  it('waits while connections to its database end or get no answer', async () => {
    let accepted = 0;
    await listen((socket) => {
      accepted += 1;
      if (accepted === 1) socket.destroy();
      else if (accepted > 2) passOn(socket);
    });
    await connected(behindPort());
    expect(accepted).toBeGreaterThan(2);
    expect(said).toHaveLength(1);
  });

  it('says nothing when its database is there', async () => {
    await connected(url.href);
    expect(said).toEqual([]);
  });

  it('ends with one sentence when its database refuses it', async () => {
    const other = new URL(url);
    other.pathname = '/none';
    await expect(connected(other.href)).rejects.toMatchObject({
      code: 'unavailable',
      message: `PostgreSQL at ${url.searchParams.get('host')} cannot be used (database "none" does not exist): check DATABASE_URL.`,
    });
    expect(said).toEqual([]);
  });
});
