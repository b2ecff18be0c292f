import { runInNewContext } from 'node:vm';
import { TestServer } from '../../testing/server.js';
import { loginScript } from './login-script.js';

describe('attacks: a page that sends the browser to /login with a key', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  /** Logs in; returns the cookie and the fragment of the next page. */
  async function login(token = server.token): Promise<{ cookie: string; hash: string }> {
    const { headers } = await server.fetch(`/sessions/a?token=${token}`, { token: '' });
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
    return { cookie, hash: `#${headers.get('location')?.split('#')[1]}` };
  }

  /** Runs the script of `/login` as a browser with this cookie and this stored key would. */
  async function opened(hash: string, { cookie, key }: { cookie: string; key: string }) {
    let stored = key;
    const next = await new Promise<string>((resolve) => {
      runInNewContext(loginScript, {
        URL,
        URLSearchParams,
        fetch: (path: string, init: { headers: Record<string, string> }) =>
          server.fetch(path, { token: '', headers: { ...init.headers, cookie } }),
        history: { replaceState: () => undefined },
        localStorage: { setItem: (_: string, value: string) => (stored = value) },
        location: { pathname: '/login', origin: server.url, hash, replace: resolve },
      });
    });
    return { stored, next };
  }

  it('replaces the key only by one of a login of this browser', async () => {
    const mine = await login();
    const { stored, next } = await opened(mine.hash, { cookie: mine.cookie, key: '' });
    expect([stored.length, next]).toEqual([43, '/sessions/a']);
    const browser = { cookie: mine.cookie, key: stored };
    const { hash: other } = await login(server.viewerToken);
    for (const hash of ['#key=junk', '#key=a%0Ab', `#key=${server.token}x`, other]) {
      const after = await opened(hash, browser);
      expect({ hash, stored: after.stored }).toEqual({ hash, stored });
    }
    // It leads to no other host either.
    expect((await opened('#key=junk&to=//evil.test/', browser)).next).toBe('/');
    const headers = { authorization: `Bearer ${stored}`, cookie: mine.cookie };
    expect((await server.fetch('/api/me', { token: '', headers })).status).toBe(200);
  });
});
