import type { AuditPage, MadeToken } from '@belay/protocol';
import { itLong, until } from '@belay/testing';
import { connected, dashboardSocket } from '../../testing/dashboard-socket.js';
import { loginPageOf, type LoginPage } from '../../testing/login-page.js';
import { TestServer } from '../../testing/server.js';
import { PasswordCheck } from './password-check.js';

const sentence = 'The name or the password is wrong.';

describe('users with passwords', () => {
  const server = new TestServer();
  beforeEach(() => server.start());
  afterEach(async () => {
    jest.restoreAllMocks();
    await server.close();
  });

  /** All guesses of a test come within one minute, however slow the machine is. */
  const stopClock = () => jest.spyOn(Date, 'now').mockReturnValue(Date.now());
  const logIn = async (name: string, password: string, more: Record<string, string> = {}) =>
    loginPageOf(
      await server.fetch('/login', {
        token: '',
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: server.url,
          ...more,
        },
        body: new URLSearchParams({ name, password, to: '/sessions/a' }).toString(),
      }),
    );
  const me = async (page: LoginPage) => {
    const answer = await server.fetch('/api/me', { token: '', headers: page.headers });
    return answer.status === 200 ? ((await answer.json()) as unknown) : answer.status;
  };
  const add = (name: string, scope = 'operate') =>
    server.json<{ id: string }>('POST', '/api/users', { name, scope, password: 'correct horse' });

  const change = async (password: string, newPassword: string, name = 'ada') => {
    const body = JSON.stringify({ name, password, newPassword });
    const headers = { 'content-type': 'application/json' };
    const sent = { token: '', method: 'POST', body, headers };
    return (await server.fetch('/api/users/password', sent)).status;
  };

  it('log in with name and password, and not with a cookie alone', async () => {
    expect(await (await server.fetch('/', { token: '' })).text()).not.toContain('Password');
    expect(await add('Ada')).toMatchObject({ status: 201, name: 'ada', logsInBy: 'password' });
    const locked = await server.fetch('/', { token: '', headers: { accept: 'text/html' } });
    expect(await locked.text()).toContain('<label for="password">Password</label>');
    const page = await logIn('ADA', 'correct horse');
    expect(page).toMatchObject({ status: 302, to: '/sessions/a' });
    expect(await me(page)).toMatchObject({ label: 'ada', scope: 'operate', sessions: 'all' });
    expect(await me({ ...page, headers: { cookie: page.headers['cookie'] ?? '' } })).toBe(401);
  });

  it('attacks: are told the same of a wrong name, a wrong password and none', async () => {
    await add('ada');
    const answers = [
      await logIn('ada', 'wrong horse'),
      await logIn('bob', 'correct horse'),
      await logIn('ada', ''),
      await logIn('<b>"', 'x'.repeat(300)),
    ];
    for (const { status, text } of answers) {
      expect(status).toBe(401);
      expect(text).toContain(sentence);
      expect(text.replaceAll(/value="[^"]*"/g, '')).toBe(
        answers[0]?.text.replaceAll(/value="[^"]*"/g, ''),
      );
    }
    expect((await logIn('ada', 'correct horse')).status).toBe(302);
  });

  it('attacks: cannot be guessed for long, also not many at once', async () => {
    await add('ada');
    stopClock();
    const guess = async () => (await logIn('ada', 'wrong horse')).status;
    const counts: number[] = [];
    for (let round = 0; round < 5; round += 1)
      counts.push(...(await Promise.all(Array.from({ length: 25 }, guess))));
    expect(counts.filter((status) => status === 401)).toHaveLength(20);
    expect(counts).toContain(429);
    expect((await logIn('ada', 'correct horse')).status).toBe(429);
    expect((await server.fetch('/api/sessions')).status).toBe(200);
    // Those at the same address, a proxy’s perhaps, log in as before: with passwords, tokens and codes.
    await add('bob');
    expect((await logIn('bob', 'correct horse')).status).toBe(302);
    const { code } = await server.json<{ code: string }>('POST', '/api/login-codes');
    for (const secret of [`token=${server.token}`, `code=${code}`])
      expect((await server.fetch(`/?${secret}`, { token: '' })).status).toBe(302);
  });

  itLong('attacks: are not locked out by strangers where they have logged in before', async () => {
    await add('ada');
    stopClock();
    const passwords = server.app.get(PasswordCheck);
    expect(await passwords.caller('home', 'ada', 'correct horse')).toMatchObject({ label: 'ada' });
    const guess = (address: number) =>
      passwords.caller(`stranger ${address}`, 'ada', 'wrong horse').catch((error: Error) => error);
    const guesses: unknown[] = [];
    for (let address = 0; address < 7; address += 1)
      for (let count = 0; count < 10; count += 1) guesses.push(await guess(address));
    expect(String(guesses.at(-1))).toContain('Too many failed login attempts.');
    // An address that is new to the name has to wait as well.
    await expect(passwords.caller('work', 'ada', 'correct horse')).rejects.toThrow('Too many');
    expect(await passwords.caller('home', 'ada', 'correct horse')).toMatchObject({ label: 'ada' });
  });

  itLong('attacks: share the processor with one address that guesses all the time', async () => {
    await add('ada');
    const passwords = server.app.get(PasswordCheck);
    const flood = Array.from({ length: 40 }, (_, index) =>
      passwords.caller('stranger', `name-${index}`, 'wrong horse').catch(() => undefined),
    );
    expect(await passwords.caller('home', 'ada', 'correct horse')).toMatchObject({ label: 'ada' });
    await Promise.all(flood);
  });

  it('attacks: are not logged in by another site’s form, nor by one that cannot be read', async () => {
    await add('ada');
    expect((await logIn('ada', 'correct horse', { origin: 'http://evil.example' })).status).toBe(
      403,
    );
    expect((await logIn('ada', 'correct horse', { 'content-type': 'text/plain' })).status).toBe(
      400,
    );
    expect((await logIn('ada', 'x'.repeat(9_000))).status).toBe(413);
  });

  it('lose what is open at once when scope or password change, or they are removed', async () => {
    const { id } = await add('ada');
    for (const [method, body] of [
      ['PATCH', { scope: 'view' }],
      ['PATCH', { password: 'another horse' }],
      ['DELETE', undefined],
    ] as const) {
      const password = method === 'DELETE' ? 'another horse' : 'correct horse';
      const page = await logIn('ada', password);
      expect(page.status).toBe(302);
      const { cookie = '', authorization = '' } = page.headers;
      const socket = dashboardSocket(
        server.url,
        { cookie },
        { auth: { key: authorization.slice('Bearer '.length) } },
      );
      await connected(socket);
      await server.json(method, `/api/users/${id}`, body);
      await until('it is disconnected', () => !socket.connected, {
        state: () => method + JSON.stringify(body),
      });
      expect(await me(page)).toBe(401);
    }
    expect((await logIn('ada', 'another horse')).status).toBe(401);
  });

  it('change their own password by the current one, and log in again everywhere', async () => {
    await add('ada');
    const page = await logIn('ada', 'correct horse');
    expect(await me(page)).toMatchObject({ hasPassword: true });
    expect(await change('correct horse', 'short')).toBe(400);
    expect(await change('wrong horse', 'another horse')).toBe(401);
    expect(await change('correct horse', 'another horse', 'bob')).toBe(401);
    expect(await me(page)).toMatchObject({ label: 'ada' });
    expect(await change('correct horse', 'another horse')).toBe(204);
    expect(await me(page)).toBe(401);
    expect((await logIn('ada', 'correct horse')).status).toBe(401);
    expect((await logIn('ada', 'another horse')).status).toBe(302);
  });

  itLong('attacks: cannot be guessed for long by changing them either', async () => {
    await add('ada');
    stopClock();
    for (let count = 0; count < 20; count += 1) await change('wrong horse', 'another horse');
    expect(await change('wrong horse', 'another horse')).toBe(429);
    expect(await change('correct horse', 'another horse')).toBe(429);
    expect((await logIn('ada', 'correct horse')).status).toBe(429);
  });

  it('attacks: keep no scope by changing the password while it is taken away', async () => {
    const { id } = await add('ada', 'admin');
    const changes = [{ password: 'another horse' }, { scope: 'view' }].map((change) =>
      server.json('PATCH', `/api/users/${id}`, change),
    );
    const logins = logIn('ada', 'correct horse');
    await Promise.all([...changes, logins]);
    expect(await me(await logIn('ada', 'another horse'))).toMatchObject({ scope: 'view' });
  });

  it('are recorded, with who did what and who was refused', async () => {
    await add('ada', 'view');
    const page = await logIn('ada', 'correct horse');
    const session = await server.session();
    await server.fetch(`/api/sessions/${session}`, { token: '', headers: page.headers });
    await server.fetch(`/api/sessions/${session}/stop`, {
      token: '',
      method: 'POST',
      headers: page.headers,
    });
    await logIn('ada', 'wrong horse');
    const { entries } = await server.json<AuditPage>('GET', '/api/audit');
    const lines = entries.map(({ label, api, action, session: of, outcome }) =>
      [label ?? '-', api, action, of === null ? '' : 'on it', outcome].join(' ').trim(),
    );
    expect(lines).toEqual([
      '- login login  unauthorized',
      'ada dashboard sessions.stop on it forbidden',
      'Owner rest sessions.create on it ok',
      'ada login login  ok',
      'Owner rest users.create  ok',
    ]);
    expect(entries[2]).toMatchObject({ session, subject: 'Fix' });
    expect(entries.every(({ address }) => address?.includes('127.0.0.1'))).toBe(true);
    expect(JSON.stringify(entries)).not.toContain('horse');
    const first = await server.json<AuditPage>('GET', '/api/audit?limit=2');
    const second = await server.json<AuditPage>('GET', `/api/audit?limit=9&before=${first.next}`);
    expect([...first.entries, ...second.entries]).toEqual(entries);
    expect(second.next).toBeNull();
  });
});

describe('the server’s own tokens', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  it.each(['owner', 'viewer'])('are replaced by rotating: %s', async (id) => {
    const old = id === 'owner' ? server.token : server.viewerToken;
    const status = async (token: string) => (await server.fetch('/api/me', { token })).status;
    const link = await server.fetch(`/?token=${old}`, { token: '' });
    const page = await loginPageOf(link);
    const code = await server.fetch('/api/login-codes', { token: server.token, method: 'POST' });
    const socket = dashboardSocket(server.url, { authorization: `Bearer ${old}` });
    await connected(socket);
    const made = await server.json<MadeToken>('POST', `/api/tokens/${id}/rotate`);
    expect(made).toMatchObject({ status: 200, id, sessions: 'all' });
    await until('it is disconnected', () => !socket.connected);
    const login = await server.fetch('/api/me', { token: '', headers: page.headers });
    expect([await status(old), login.status, await status(made.token)]).toEqual([401, 401, 200]);
    const { code: unused } = (await code.json()) as { code: string };
    const byCode = await server.fetch(`/?code=${unused}`, { token: '' });
    expect(byCode.status).toBe(id === 'owner' ? 401 : 302);
    await server.restart();
    expect([await status(old), await status(made.token)]).toEqual([401, 200]);
  });
});
