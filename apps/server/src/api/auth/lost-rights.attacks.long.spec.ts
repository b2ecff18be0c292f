import { sessionEventRoutes, type MadeToken } from '@belay/protocol';
import { until } from '@belay/testing';
import { WebSocket } from 'ws';
import { loginPageOf } from '../../testing/login-page.js';
import { TestServer } from '../../testing/server.js';

const json = { 'content-type': 'application/json' };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};

describe('attacks: connections that outlast the rights of their user', () => {
  const server = new TestServer();
  let session: string;
  let users = 0;
  beforeAll(async () => {
    await server.start();
    session = await server.session();
  });
  afterAll(() => server.close());

  type Headers = Record<string, string>;

  async function loggedIn(): Promise<{ id: string; headers: Headers }> {
    users += 1;
    const name = `ada-${users}`;
    const password = 'correct horse';
    const user = { name, password, scope: 'admin' };
    const { id } = await server.json<{ id: string }>('POST', '/api/users', user);
    const body = new URLSearchParams({ name, password, to: '/' });
    const headers = { origin: server.url };
    const answer = await server.fetch('/login', { token: '', method: 'POST', body, headers });
    return { id, headers: (await loginPageOf(answer)).headers };
  }

  const send = (headers: Headers, path: string, body?: object, more: Headers = {}) =>
    server.fetch(path, {
      token: '',
      headers: { ...headers, ...more, ...(body && json) },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });

  /** Follows the session over REST, MCP and the plain WebSocket. Returns the names of those that have ended. */
  async function followed(headers: Headers, token: string): Promise<Set<string>> {
    const ended = new Set<string>();
    const follow = (name: string, stream: Response): void => {
      expect({ name, status: stream.status }).toEqual({ name, status: 200 });
      void stream
        .text()
        .catch(() => '')
        .then(() => ended.add(name));
    };
    const accept = { accept: 'application/json, text/event-stream' };
    for (const [name, by] of Object.entries({ login: headers, token: bearer(token) })) {
      const path = sessionEventRoutes.stream.path.replace(':id', session);
      follow(`events of the ${name}`, await send(by, path));
      const begun = await send(by, '/mcp', initialize, accept);
      const id = begun.headers.get('mcp-session-id') ?? '';
      await begun.text();
      const stream = { accept: 'text/event-stream', 'mcp-session-id': id };
      follow(`MCP of the ${name}`, await send(by, '/mcp', undefined, stream));
    }
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, {
      headers: bearer(token),
    });
    await new Promise((resolve) => socket.once('open', resolve));
    socket.once('close', () => ended.add('socket of the token'));
    return ended;
  }
  const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

  const ofLogin = ['events of the login', 'MCP of the login'];
  const ofToken = ['events of the token', 'MCP of the token', 'socket of the token'];

  it.each([
    ['another password', 'PATCH', { password: 'another horse' }, ofLogin],
    ['a narrower scope', 'PATCH', { scope: 'operate' }, [...ofLogin, ...ofToken]],
    ['no account', 'DELETE', undefined, [...ofLogin, ...ofToken]],
  ])('end at once with %s', async (_, method, change, lost) => {
    const { id, headers } = await loggedIn();
    const wanted = { label: 'CI', scope: 'admin' };
    const { token } = (await (await send(headers, '/api/tokens', wanted)).json()) as MadeToken;
    const others = await followed(bearer(server.token), server.token);
    const ended = await followed(headers, token);
    await server.json(method, `/api/users/${id}`, change);
    await until(
      'all that it may not have any more has ended',
      () => lost.every((name) => ended.has(name)),
      {
        state: () => [...ended],
      },
    );
    expect([...ended].toSorted()).toEqual(lost.toSorted());
    expect([...others]).toEqual([]);
  });
});
