import { ownerCaller } from '../../access/caller.js';
import { connected, dashboardSocket } from '../../testing/dashboard-socket.js';
import { TestServer } from '../../testing/server.js';
import { storedDocuments } from '../../testing/stored-documents.js';
import { LoginAttempts } from './login-attempts.js';
import { Logins } from './logins.js';

interface Login {
  status: number;
  /** `name=value` of the cookie that was set; empty when none was. */
  cookie: string;
  attributes: string;
  key: string;
  to: string | null;
}

describe('attacks: what a browser keeps of its login', () => {
  const server = new TestServer();
  beforeEach(() => server.start());
  afterEach(() => server.close());

  const login = async (address: string, cookie = ''): Promise<Login> => {
    const response = await server.fetch(address, {
      token: '',
      headers: { accept: 'text/html', ...(cookie && { cookie }) },
    });
    const [name = '', ...attributes] = (response.headers.get('set-cookie') ?? '').split(';');
    const location = response.headers.get('location') ?? '';
    const given = new URLSearchParams(location.split('#')[1]);
    return {
      status: response.status,
      cookie: name,
      attributes: attributes.join(';'),
      key: given.get('key') ?? '',
      to: given.get('to'),
    };
  };
  const own = () => login(`/?token=${server.token}`);
  const status = async (headers: Record<string, string>, method = 'GET', path = '/api/sessions') =>
    (await server.fetch(path, { token: '', method, headers })).status;
  const both = ({ cookie, key }: Login) => ({ cookie, authorization: `Bearer ${key}` });
  const joins = (extraHeaders: Record<string, string>, auth = {}): Promise<boolean> => {
    const socket = dashboardSocket(server.url, extraHeaders, {
      auth,
    });
    return new Promise<boolean>((resolve) => {
      socket.on('connect', () => resolve(true));
      socket.on('connect_error', () => resolve(false));
    }).finally(() => socket.close());
  };

  it('is a cookie that is not the token, for this port, and that no script reads', async () => {
    const { cookie, attributes, key, to } = await login(`/sessions/a?token=${server.token}&x=1`);
    expect(cookie).toMatch(new RegExp(`^belay_${new URL(server.url).port}=[\\w-]{43}$`));
    expect(attributes).toMatch(/HttpOnly/);
    expect(attributes).toMatch(/SameSite=Strict/);
    expect(attributes).toMatch(/Max-Age=2592000/);
    expect(`${cookie} ${key}`).not.toContain(server.token);
    expect(to).toBe('/sessions/a?x=1');
  });

  it('opens nothing with the cookie alone, which other ports of 127.0.0.1 receive', async () => {
    const mine = await own();
    const { cookie } = mine;
    for (const [method, path] of [
      ['GET', '/api/sessions'],
      ['GET', '/api/settings'],
      ['GET', '/api/me'],
      ['POST', '/api/sessions'],
      ['POST', '/api/login-codes'],
      ['DELETE', '/api/logins'],
      ['GET', '/openapi.json'],
    ] as const) {
      expect([path, await status({ cookie }, method, path)]).toEqual([path, 401]);
    }
    const value = cookie.split('=')[1] ?? '';
    expect(await status({ cookie, authorization: `Bearer ${value}` })).toBe(401);
    expect(await joins({ cookie })).toBe(false);
    expect(await joins({ cookie }, { key: value })).toBe(false);
    // The honest page has both halves.
    expect(await status(both(mine))).toBe(200);
    expect(await joins({ cookie }, { key: mine.key })).toBe(true);
  });

  it('opens nothing with the key alone, nor with halves of two logins', async () => {
    const [mine, other] = [await own(), await own()];
    expect(await status({ authorization: `Bearer ${mine.key}` })).toBe(401);
    expect(await joins({}, { key: mine.key })).toBe(false);
    expect(await status(both({ ...mine, key: other.key }))).toBe(401);
    expect(await joins({ cookie: mine.cookie }, { key: other.key })).toBe(false);
    expect(await status(both(mine))).toBe(200);
    expect(await status(both(other))).toBe(200);
  });

  it('goes on in other tabs when one of them logs in again', async () => {
    const first = await own();
    const again = await login(`/?token=${server.token}`, first.cookie);
    expect(again.cookie).toBe(first.cookie);
    expect(await status(both(first))).toBe(200);
    expect(await status(both(again))).toBe(200);
  });

  it('gives a viewer no more than a viewer has', async () => {
    const viewer = await login(`/?token=${server.viewerToken}`);
    expect(await status(both(viewer))).toBe(200);
    expect(await status(both(viewer), 'POST')).toBe(403);
    expect(await status(both(viewer), 'POST', '/api/login-codes')).toBe(403);
    // Logging in as the user does not make the viewer’s key one of the user.
    const user = await login(`/?token=${server.token}`, viewer.cookie);
    expect(user.cookie).not.toBe(viewer.cookie);
    expect(await status(both({ ...user, key: viewer.key }))).toBe(401);
  });

  it('outlives a restart of the server, whose disk has hashes alone', async () => {
    const mine = await own();
    const saved = JSON.stringify((await storedDocuments(server))['logins']);
    expect(saved).toContain('owner');
    for (const secret of [mine.key, mine.cookie.split('=')[1] ?? '', server.token])
      expect(saved).not.toContain(secret);
    await server.restart();
    expect(await status(both(mine))).toBe(200);
  });

  it('is ended by the user, with its sockets', async () => {
    const mine = await own();
    const socket = dashboardSocket(
      server.url,
      { cookie: mine.cookie },
      { auth: { key: mine.key } },
    );
    await connected(socket);
    const dropped = new Promise((resolve) => socket.on('disconnect', resolve));
    expect((await server.fetch('/api/logins', { method: 'DELETE' })).status).toBe(204);
    await dropped;
    expect(await status(both(mine))).toBe(401);
    expect(await status(both(await own()))).toBe(200);
  });

  it('ends by itself', async () => {
    const logins = server.app.get(Logins);
    const { cookie, key } = await logins.create(ownerCaller, []);
    jest.useFakeTimers({ now: Date.now() });
    try {
      jest.advanceTimersByTime(29 * 24 * 3600_000);
      expect(logins.find(key, [cookie])?.caller).toBe('owner');
      jest.advanceTimersByTime(2 * 24 * 3600_000);
      expect(logins.find(key, [cookie])).toBeUndefined();
    } finally {
      jest.useRealTimers();
    }
  });

  it('leads to no other host', async () => {
    for (const path of ['//evil.test/', '/%5Cevil.test/', '/x/../..//evil.test']) {
      const { to } = await login(`${path}?token=${server.token}`);
      expect(new URL(to ?? '', server.url).origin).toBe(server.url);
    }
  });
});

describe('attacks: a link that logs in', () => {
  const server = new TestServer();
  beforeEach(() => server.start());
  afterEach(() => server.close());
  const code = async () => (await server.json<{ code: string }>('POST', '/api/login-codes')).code;
  const open = (address: string, cookie = '') =>
    server.fetch(address, { token: '', headers: { accept: 'text/html', cookie } });

  it('is good for one browser, which may open it again', async () => {
    const link = `/sessions/a?code=${await code()}`;
    const first = await open(link);
    expect(first.status).toBe(302);
    const thief = await open(link);
    expect(thief.status).toBe(401);
    expect(await thief.text()).toContain('That link has already been used or has expired.');
    expect(thief.headers.get('set-cookie')).toBeNull();
    const again = await open(link, first.headers.get('set-cookie')?.split(';')[0]);
    expect([again.status, again.headers.get('location')]).toEqual([302, '/sessions/a']);
  });

  it('ends after its time, and with the logins', async () => {
    const logins = server.app.get(Logins);
    expect((await open(`/?code=${await logins.newCode(ownerCaller, -1)}`)).status).toBe(401);
    const link = `/?code=${await code()}`;
    await logins.endAll();
    expect((await open(link)).status).toBe(401);
    expect((await open(`/?code=${await code()}`)).status).toBe(302);
  });

  it('logs in, whatever others at its address guess: their guesses cost them a hash', async () => {
    const link = `/?code=${await code()}`;
    for (let count = 0; count < 100; count += 1)
      for (const guess of ['token', 'code'])
        expect((await open(`/?${guess}=guess-${count}`)).status).toBe(401);
    expect((await open(`/?token=${server.token}`)).status).toBe(302);
    expect((await open(link)).status).toBe(302);
  });

  it('logs in whoever opens it, not a page that shows it as a picture', async () => {
    const link = `/?code=${await code()}`;
    const as = (dest: string) =>
      server.fetch(link, { token: '', headers: { accept: '*/*', 'sec-fetch-dest': dest } });
    for (const dest of ['image', 'iframe', 'script', 'empty']) {
      const answer = await as(dest);
      expect({ dest, cookie: answer.headers.get('set-cookie') }).toEqual({ dest, cookie: null });
    }
    expect((await as('document')).status).toBe(302);
  });

  it('may be tried again after a minute, and one address does not stop another', () => {
    let now = 0;
    const attempts = new LoginAttempts(() => now);
    for (let count = 0; count < 20; count += 1) attempts.failed('a');
    expect(attempts.areTooMany('a')).toBe(true);
    expect(attempts.areTooMany('b')).toBe(false);
    now = 60_001;
    expect(attempts.areTooMany('a')).toBe(false);
  });
});
