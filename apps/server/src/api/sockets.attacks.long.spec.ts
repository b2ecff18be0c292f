import type { MadeToken } from '@belay/protocol';
import { until } from '@belay/testing';
import { WebSocket } from 'ws';
import { viewerCaller } from '../access/caller.js';
import { dashboardSocket, type Socket } from '../testing/dashboard-socket.js';
import { TestServer } from '../testing/server.js';
import { SocketCounts } from './limits/socket-counts.js';

describe('attacks: sockets without end', () => {
  const server = new TestServer();
  const open: { close(): unknown }[] = [];
  beforeAll(() => server.start());
  afterEach(() => {
    for (const socket of open.splice(0)) socket.close();
  });
  afterAll(() => server.close());

  const dashboard = (token: string): Socket => {
    const socket = dashboardSocket(
      server.url,
      { authorization: `Bearer ${token}` },
      {
        // Only the server ends connections, however long it takes to serve all of them.
        timeout: 600_000,
      },
    );
    open.push(socket);
    return socket;
  };
  const plain = (token: string): WebSocket => {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, { headers });
    socket.on('error', () => undefined);
    open.push(socket);
    return socket;
  };

  it('of one token are bounded on all paths together, and others are served', async () => {
    const { token } = await server.json<MadeToken>('POST', '/api/tokens', {
      label: 'many',
      scope: 'view',
    });
    const plains = Array.from({ length: 250 }, () => plain(token));
    await until('half are open', () =>
      plains.every(({ readyState }) => readyState === WebSocket.OPEN),
    );
    const dashboards = Array.from({ length: 260 }, () => dashboard(token));
    const ended = new Set<Socket>();
    for (const socket of dashboards)
      for (const event of ['disconnect', 'connect_error'])
        socket.on(event, () => void ended.add(socket));
    await until('those beyond the limit are closed', () => ended.size === 10);
    await until('the others are open', () =>
      dashboards.every((socket) => socket.connected || ended.has(socket)),
    );
    const late = plain(token);
    await until('no path takes more', () => late.readyState === WebSocket.CLOSED);
    // The controls: another caller, and the same one once it has closed one.
    const other = dashboard(server.viewerToken);
    await until('another caller is served', () => other.connected);
    plains[0]?.close();
    await until('it is closed', () => plains[0]?.readyState === WebSocket.CLOSED);
    let again = plain(token);
    await until('one more is served', () => {
      if (again.readyState === WebSocket.CLOSED) again = plain(token);
      return again.readyState === WebSocket.OPEN;
    });
  });

  it('of strangers are bounded for each address, and of viewers leave places to others', () => {
    const counts = new SocketCounts();
    for (let count = 0; count < 20; count += 1) counts.enter({ address: 'a' });
    expect(() => counts.enter({ address: 'a' })).toThrow('Too many sockets are open.');
    const place = counts.enter({ address: 'b' });
    place.admit(viewerCaller);
    const links = Array.from({ length: 1_000 }, (_, at) => ({ ...viewerCaller, id: `link ${at}` }));
    expect(() => links.forEach((caller) => counts.enter({ caller, address: 'c' }))).toThrow(
      'Too many sockets',
    );
    place.leave();
    expect(counts.enter({ caller: viewerCaller, address: 'c' })).toBeDefined();
    expect(
      counts.enter({ caller: { ...viewerCaller, scope: 'operate' }, address: 'c' }),
    ).toBeDefined();
  });
});
