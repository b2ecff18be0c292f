import type { MadeToken, MadeViewerLink, ViewerLink } from '@belay/protocol';
import { until } from '@belay/testing';
import { connected, dashboardSocket, type Socket } from '../../testing/dashboard-socket.js';
import { loginPageOf } from '../../testing/login-page.js';
import { TestServer } from '../../testing/server.js';

const dayMs = 24 * 3_600_000;
const inDays = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();

describe('attacks: viewer links', () => {
  const server = new TestServer();
  let shown: string;
  let other: string;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    await server.start();
    shown = await server.session({ task: 'Shown' });
    other = await server.session({ task: 'Hidden' });
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.close();
  });
  afterAll(() => server.close());

  const send = async (method: string, path: string, token: string, body?: unknown) => {
    const answer = await server.fetch(path, {
      method,
      token,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const make = async (session = shown, more: object = {}) => {
    const body = { label: 'For Ada', expires: inDays(1), ...more };
    return server.json<MadeViewerLink & { detail: string }>(
      'POST',
      `/api/sessions/${session}/links`,
      body,
    );
  };
  const open = async (token: string): Promise<Socket> => {
    const socket = dashboardSocket(server.url, { authorization: `Bearer ${token}` });
    sockets.push(socket);
    return connected(socket);
  };
  const watch = (socket: Socket, session: string): Promise<unknown> =>
    socket.emitWithAck('watch', { session, after: 0, terminals: {} });

  it('shows its session: page, log, files that viewers read, and the live log', async () => {
    const { token, path } = await make();
    const page = await server.fetch(path, { token: '' });
    expect(page.status).toBe(302);
    expect(page.headers.get('location')).toContain(encodeURIComponent(`/sessions/${shown}`));
    server.sandboxes.answer = () => ({
      path: 'a',
      content: '',
      from: 0,
      to: 0,
      lines: 0,
      size: 0,
      next: null,
      version: null,
    });
    for (const read of ['', '/events', '/patch', '/file?path=a'])
      expect({
        read,
        ...(await send('GET', `/api/sessions/${shown}${read}`, token)),
      }).toMatchObject({ read, status: 200 });
    expect(await watch(await open(token), shown)).toMatchObject({ ok: true });
  });

  it('shows no other session, by any way', async () => {
    const { token } = await make();
    for (const path of ['', '/events', '/patch', '/file?path=a', '/terminals', '/links']) {
      const { status } = await send('GET', `/api/sessions/${other}${path}`, token);
      expect({ path, status }).toEqual({ path, status: 404 });
    }
    for (const path of [
      '/api/sessions',
      '/api/search?q=Hidden',
      '/api/comparisons',
      '/api/rules',
    ]) {
      const { text } = await send('GET', path, token);
      expect({ path, found: text.includes(other) }).toEqual({ path, found: false });
    }
    const socket = await open(token);
    expect(JSON.stringify(await watch(socket, other))).toContain('not_found');
    expect(await watch(socket, shown)).toMatchObject({ ok: true });
  });

  it('changes nothing: neither session, files, approvals nor links', async () => {
    const { token, id } = await make();
    const session = `/api/sessions/${shown}`;
    const tries: [string, string, unknown?][] = [
      ['POST', `${session}/messages`, { text: 'x' }],
      ['POST', `${session}/stop`, {}],
      ['POST', `${session}/fork`, { seq: 1 }],
      ['POST', `${session}/check`, {}],
      ['PATCH', session, { title: 'x' }],
      ['DELETE', session],
      ['PUT', `${session}/file?path=a`, 'x'],
      ['POST', `${session}/operations/terminal.run`, { command: 'id' }],
      ['POST', `${session}/operations/files.write`, { path: 'a', content: 'x' }],
      ['POST', `${session}/approvals/x`, { verdict: 'approved' }],
      ['POST', `${session}/links`, { label: 'mine', expires: inDays(1) }],
      ['GET', `${session}/links`],
      ['DELETE', `${session}/links/${id}`],
      ['POST', '/api/sessions', { task: 'x', model: 'scripted:x' }],
      ['POST', '/api/comparisons', { task: 'x', models: ['scripted:x', 'scripted:y'] }],
      ['PUT', '/api/templates/x', { task: 'x' }],
      ['GET', '/api/tokens'],
      ['POST', `/api/tokens/${id}/rotate`, {}],
    ];
    const before = await server.log.lastSeq(shown);
    for (const [method, path, body] of tries) {
      const { status } = await send(method, path, token, body);
      expect({ method, path, status }).toEqual({ method, path, status: 403 });
    }
    expect(await server.log.lastSeq(shown)).toBe(before);
    // The control: the same messages of its owner.
    expect((await send('PATCH', session, server.token, { title: 'Shown' })).status).toBe(200);
  });

  it('is void at once when it is revoked: requests, logins and open sockets', async () => {
    const [gone, stays] = [await make(), await make()];
    const [closing, open_] = [await open(gone.token), await open(stays.token)];
    await watch(closing, shown);
    const login = await server.fetch(gone.path, { token: '' });
    const key = /key=([^&]+)/.exec(login.headers.get('location') ?? '')?.[1] ?? '';
    const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const byLogin = async () => {
      const headers = { authorization: `Bearer ${key}`, cookie };
      const answer = await server.fetch('/api/sessions', { token: '', headers });
      await answer.text();
      return answer.status;
    };
    expect(await byLogin()).toBe(200);
    const listed = async () =>
      (await server.json<ViewerLink[]>('GET', `/api/sessions/${shown}/links`)).map(({ id }) => id);
    expect(await listed()).toEqual(expect.arrayContaining([gone.id, stays.id]));
    const path = `/api/sessions/${shown}/links/${gone.id}`;
    // By the links of another session it is not there.
    const astray = await send('DELETE', path.replace(shown, other), server.token);
    expect(astray.status).toBe(404);
    expect((await send('DELETE', path, server.token)).status).toBe(204);
    await until('its socket is closed', () => closing.disconnected);
    expect((await send('GET', `/api/sessions/${shown}`, gone.token)).status).toBe(401);
    expect(await byLogin()).toBe(401);
    expect(await listed()).not.toContain(gone.id);
    expect(open_.connected).toBe(true);
    expect((await send('GET', `/api/sessions/${shown}`, stays.token)).status).toBe(200);
    await server.restart();
    expect((await send('GET', `/api/sessions/${shown}`, gone.token)).status).toBe(401);
    expect((await send('GET', `/api/sessions/${shown}`, stays.token)).status).toBe(200);
  });

  const isOpen = async (token: string) =>
    (await send('GET', `/api/sessions/${shown}`, token)).status === 200;

  it('ends, like a login, when the token that a thief made it with gets another secret', async () => {
    const wanted = { label: 'stolen', scope: 'operate' };
    const stolen = await server.json<MadeToken>('POST', '/api/tokens', wanted);
    const label = { label: 'x', expires: inDays(1) };
    const linkBy = async (token: string) => {
      const { text } = await send('POST', `/api/sessions/${shown}/links`, token, label);
      return JSON.parse(text) as MadeViewerLink;
    };
    const [theirs, ours] = [await linkBy(stolen.token), await linkBy(server.token)];
    const login = await loginPageOf(await server.fetch(`/?token=${stolen.token}`, { token: '' }));
    const byLogin = async () =>
      (await server.fetch('/api/me', { token: '', headers: login.headers })).status;
    const socket = await open(theirs.token);
    expect([await isOpen(theirs.token), await byLogin()]).toEqual([true, 200]);
    const rotated = await server.json<MadeToken>('POST', `/api/tokens/${stolen.id}/rotate`);
    await until('its socket is closed', () => socket.disconnected);
    expect([await isOpen(theirs.token), await byLogin()]).toEqual([false, 401]);
    // The control: what others made, and what the token makes from now on.
    const later = await linkBy(rotated.token);
    await server.restart();
    const tokens = [theirs, ours, later].map(({ token }) => token);
    expect(await Promise.all(tokens.map(isOpen))).toEqual([false, true, true]);
    await server.json('POST', '/api/tokens/viewer/rotate');
    expect(await isOpen(ours.token)).toBe(true);
    const own = await server.json<MadeToken>('POST', '/api/tokens/owner/rotate');
    server.token = own.token;
    expect(await Promise.all(tokens.map(isOpen))).toEqual([false, false, true]);
  });

  it('ends when its maker gets another password, and stays with another scope', async () => {
    const [name, password] = ['ada', 'correct horse'];
    const user = { name, password, scope: 'operate' };
    const { id } = await server.json<{ id: string }>('POST', '/api/users', user);
    const logIn = async (secret: string) => {
      const body = new URLSearchParams({ name, password: secret, to: '/' });
      const headers = { origin: server.url };
      const answer = await server.fetch('/login', { token: '', method: 'POST', body, headers });
      return (await loginPageOf(answer)).headers;
    };
    const link = async (secret = password) => {
      const answer = await server.fetch(`/api/sessions/${shown}/links`, {
        token: '',
        method: 'POST',
        headers: { ...(await logIn(secret)), 'content-type': 'application/json' },
        body: JSON.stringify({ label: 'x', expires: inDays(1) }),
      });
      return ((await answer.json()) as MadeViewerLink).token;
    };
    const first = await link();
    await server.json('PATCH', `/api/users/${id}`, { scope: 'admin' });
    expect(await isOpen(first)).toBe(true);
    await server.json('PATCH', `/api/users/${id}`, { password: 'another horse' });
    expect(await isOpen(first)).toBe(false);
    const second = await link('another horse');
    expect(await isOpen(second)).toBe(true);
    const change = { name, password: 'another horse', newPassword: 'a third horse' };
    expect((await send('POST', '/api/users/password', '', change)).status).toBeLessThan(300);
    expect(await isOpen(second)).toBe(false);
  });

  it('outlives neither its maker nor its session, and needs an end', async () => {
    const maker = await server.json<MadeToken>('POST', '/api/tokens', {
      label: 'maker',
      scope: 'operate',
      sessions: [shown],
      expires: inDays(2),
    });
    const links = `/api/sessions/${shown}/links`;
    const late = { label: 'late', expires: inDays(3) };
    const refused = await send('POST', links, maker.token, late);
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.text).toContain('Your own token expires');
    expect((await send('POST', links, server.token, late)).status).toBe(201);
    expect((await make(shown, { expires: inDays(400) })).detail).toContain('within 365 days');
    expect((await make(shown, { expires: inDays(-1) })).detail).toContain('in the future');
    expect((await make(shown, { expires: null })).status).toBe(400);
    const made = await send('POST', links, maker.token, { label: 'x', expires: inDays(1) });
    const { token } = JSON.parse(made.text) as MadeViewerLink;
    expect((await send('GET', `/api/sessions/${shown}`, token)).status).toBe(200);
    await server.json('DELETE', `/api/tokens/${maker.id}`);
    expect((await send('GET', `/api/sessions/${shown}`, token)).status).toBe(401);
    const brief = await server.session();
    const ofBrief = await make(brief);
    await server.json('DELETE', `/api/sessions/${brief}`);
    expect((await send('GET', '/api/me', ofBrief.token)).status).toBe(401);
    expect((await make('none')).status).toBe(404);
  });
});
