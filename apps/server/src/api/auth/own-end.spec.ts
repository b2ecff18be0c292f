import type { MadeToken } from '@belay/protocol';
import { pause } from '@belay/testing';
import { CallerEnds } from '../../access/caller-ends.js';
import { loginPageOf } from '../../testing/login-page.js';
import { TestServer } from '../../testing/server.js';

describe('a request that ends the access of its own caller', () => {
  const server = new TestServer();
  beforeAll(async () => {
    await server.start();
    const ends = server.app.get(CallerEnds);
    ends.onLogout(() => pause(100, 'a database that is slow'));
    ends.onNewSecret(() => pause(100, 'a database that is slow'));
  });
  afterAll(() => server.close());

  const made = () =>
    server.json<MadeToken>('POST', '/api/tokens', { label: 'own', scope: 'admin' });
  const send = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ) => {
    const json = { 'content-type': 'application/json' };
    const sent = { ...(body && { body: JSON.stringify(body) }), headers: { ...headers, ...json } };
    const { status } = await server.fetch(path, { method, token: '', ...sent });
    const after = await server.fetch('/api/me', { token: '', headers });
    return [status, after.status];
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it.each([
    ['POST', (id: string) => `/api/tokens/${id}/rotate`, 200],
    ['DELETE', (id: string) => `/api/tokens/${id}`, 204],
  ])('is answered: %s of its token', async (method, path, status) => {
    const { id, token } = await made();
    expect(await send(method, path(id), bearer(token))).toEqual([status, 401]);
  });

  it.each([
    ['PATCH', (id: string) => `/api/users/${id}`, { password: 'another horse' }, 200],
    ['DELETE', (id: string) => `/api/users/${id}`, undefined, 204],
    ['DELETE', () => '/api/logins', undefined, 204],
  ])('is answered: %s of its user or login', async (method, path, change, status) => {
    const user = { name: `ada-${method}-${status}`, password: 'correct horse', scope: 'admin' };
    const { id } = await server.json<{ id: string }>('POST', '/api/users', user);
    const { name, password } = user;
    const login = await server.fetch('/login', {
      token: '',
      method: 'POST',
      body: new URLSearchParams({ name, password, to: '/' }),
      headers: { origin: server.url },
    });
    const { headers } = await loginPageOf(login);
    expect(await send(method, path(id), headers, change)).toEqual([status, 401]);
  });
});
