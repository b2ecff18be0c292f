import type { MadeToken, UserInfo } from '@belay/protocol';
import { until } from '@belay/testing';
import { connected, dashboardSocket } from '../../testing/dashboard-socket.js';
import { loginPageOf, type LoginPage } from '../../testing/login-page.js';
import { OidcProvider } from '../../testing/oidc-provider.js';
import { TestServer } from '../../testing/server.js';

describe('users of an identity provider', () => {
  const provider = new OidcProvider();
  const server = new TestServer();
  beforeAll(async () => {
    await provider.start();
    await server.start({
      BELAY_OIDC_ISSUER: provider.issuer,
      BELAY_OIDC_CLIENT_ID: 'belay',
      BELAY_OIDC_CLIENT_SECRET: 'secret',
      BELAY_OIDC_ADMIN: 'group:owners',
      BELAY_OIDC_OPERATE: '@team.example',
      BELAY_OIDC_VIEW: 'guest@elsewhere.example',
    });
  });
  afterAll(async () => {
    await server.close();
    await provider.close();
  });
  beforeEach(() => Object.assign(provider, { claims: {}, forges: false }));

  const get = (path: string, headers: Record<string, string> = {}) =>
    server.fetch(path, { token: '', headers: { accept: 'text/html', ...headers } });
  const begin = async () => {
    const response = await get('/login/oidc?to=/sessions/a');
    const address = response.headers.get('location') ?? '';
    return { address, cookie: (await loginPageOf(response)).headers['cookie'] ?? '' };
  };
  const back = async (address: string, cookie: string) =>
    loginPageOf(await get(address.slice(server.url.length), { cookie }));
  const logIn = async (claims: Record<string, unknown>) => {
    provider.claims = claims;
    const { address, cookie } = await begin();
    return back(provider.agree(address), cookie);
  };
  const scopeOf = async ({ headers }: LoginPage) =>
    ((await (await server.fetch('/api/me', { token: '', headers })).json()) as { scope: string })
      .scope;

  it('log in with the scope of their group, domain or address, and stay the same user', async () => {
    expect(await (await get('/')).text()).toContain('Log in with your organization');
    const mail = { email: 'Ada@team.example', email_verified: true };
    const page = await logIn(mail);
    expect(page).toMatchObject({ status: 302, to: '/sessions/a' });
    expect(await scopeOf(page)).toBe('operate');
    expect(await scopeOf(await logIn({ ...mail, groups: ['owners', 'x'] }))).toBe('admin');
    const guest = { sub: 'u2', email: 'guest@elsewhere.example', email_verified: true };
    expect(await scopeOf(await logIn(guest))).toBe('view');
    const users = await server.json('GET', '/api/users');
    expect(users).toMatchObject([
      { name: 'ada@team.example', scope: 'admin', logsInBy: 'oidc' },
      { name: 'guest@elsewhere.example', scope: 'view' },
    ]);
  });

  it('attacks: log in while strangers begin a thousand logins', async () => {
    const { address, cookie } = await begin();
    const answer = provider.agree(address);
    for (let round = 0; round < 21; round += 1) {
      const begun = Array.from({ length: 50 }, () => get('/login/oidc'));
      for (const { status } of await Promise.all(begun)) expect(status).toBe(302);
    }
    provider.claims = { groups: ['owners'] };
    const page = await back(answer, cookie);
    expect(page).toMatchObject({ status: 302, to: '/sessions/a' });
    expect(await scopeOf(page)).toBe('admin');
  });

  it('log in to the start page when the address of another is too long for a cookie', async () => {
    provider.claims = { groups: ['owners'] };
    const response = await get(`/login/oidc?to=/${'x'.repeat(3_900)}`);
    const { headers } = await loginPageOf(response);
    const answer = provider.agree(response.headers.get('location') ?? '');
    expect(await back(answer, headers['cookie'] ?? '')).toMatchObject({ status: 302, to: '/' });
  });

  it('lose what is open, and what they made, when the provider takes their group away', async () => {
    const mail = { sub: 'u9', email: 'joan@team.example', email_verified: true };
    const openSocket = async ({ headers: { cookie = '', authorization = '' } }: LoginPage) => {
      const socket = dashboardSocket(
        server.url,
        { cookie },
        { auth: { key: authorization.slice('Bearer '.length) } },
      );
      await connected(socket);
      return socket;
    };
    const first = await logIn({ ...mail, groups: ['owners'] });
    const wanted = { label: 'CI', scope: 'admin' };
    const made = (await (
      await server.fetch('/api/tokens', {
        token: '',
        method: 'POST',
        headers: { ...first.headers, 'content-type': 'application/json' },
        body: JSON.stringify(wanted),
      })
    ).json()) as MadeToken;
    const may = async () => (await server.fetch('/api/me', { token: made.token })).status;
    const socket = await openSocket(first);
    expect(await scopeOf(await logIn({ ...mail, groups: ['owners'] }))).toBe('admin');
    expect([socket.connected, await may()]).toEqual([true, 200]);
    const second = await logIn(mail);
    await until('it is disconnected', () => !socket.connected);
    expect([await may(), await scopeOf(first)]).toEqual([401, 'operate']);
    const other = await openSocket(second);
    const hasLogin = async ({ headers: { cookie = '' } }: LoginPage) =>
      (await get('/', { cookie })).status !== 401;
    expect(await hasLogin(second)).toBe(true);
    expect((await logIn({ sub: 'u9' })).status).toBe(403);
    await until('the other is disconnected', () => !other.connected);
    expect(await scopeOf(second)).toBeUndefined();
    expect(await hasLogin(second)).toBe(false);
    const names = (await server.json<UserInfo[]>('GET', '/api/users')).map(({ name }) => name);
    expect(names).not.toContain('joan@team.example');
  });

  it.each([
    ['no list', { groups: { owners: true } }],
    ['too many', { groups: Array.from({ length: 5_001 }, (_, index) => `g${index}`) }],
    ['at another address', { _claim_names: { groups: 'src1' } }],
  ])('keep account and rights when the provider sends groups that are %s', async (_, claims) => {
    const page = await logIn({ sub: 'u7', groups: ['owners'] });
    const failed = await logIn({ sub: 'u7', ...claims });
    expect(failed.status).toBe(401);
    expect(failed.text).toContain('did not send your groups');
    expect(await scopeOf(page)).toBe('admin');
    expect((await logIn({ sub: 'u7', groups: [] })).status).toBe(403);
    expect(await scopeOf(page)).toBeUndefined();
  });

  it.each([
    ['an address that is not verified', { email: 'eve@team.example' }, 403],
    ['another domain', { email: 'eve@team.example.evil', email_verified: true }, 403],
    ['a domain in the name', { email: '@team.example@evil.example', email_verified: true }, 403],
    ['no group', { groups: ['owner'] }, 403],
    ['another client’s token', { aud: 'other' }, 401],
    ['another issuer', { iss: 'http://evil.example' }, 401],
    ['another login’s nonce', { nonce: 'other' }, 401],
    ['a token of the past', { exp: 1 }, 401],
  ])('attacks: are refused with %s', async (_, claims, status) => {
    const page = await logIn({ sub: 'eve', groups: status === 401 ? ['owners'] : [], ...claims });
    expect(page.status).toBe(status);
    expect(page.headers['cookie']).not.toMatch(/belay_\d/);
  });

  it('attacks: are refused with a forged signature, another browser, or a code used twice', async () => {
    provider.forges = true;
    expect((await logIn({ groups: ['owners'] })).status).toBe(401);
    provider.forges = false;
    const { address, cookie } = await begin();
    const answer = provider.agree(address);
    expect((await back(answer, '')).status).toBe(401);
    const other = await begin();
    expect((await back(answer, other.cookie)).status).toBe(401);
    provider.claims = { groups: ['owners'] };
    expect((await back(answer, cookie)).status).toBe(302);
    expect((await back(answer, cookie)).status).toBe(401);
  });
});
