import { request, type IncomingHttpHeaders } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { AppError, newEvent, type MadeToken, type OpenedPreview } from '@belay/protocol';
import { itLong, memoryInUse, until } from '@belay/testing';
import { WebSocket } from 'ws';
import { loginPageOf } from '../../testing/login-page.js';
import { previewedProgram } from '../../testing/previewed-program.js';
import { TestServer } from '../../testing/server.js';
import { PreviewAddress } from './preview-address.js';

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

describe('attacks: previews of what an agent serves', () => {
  const server = new TestServer();
  const { server: app, seen } = previewedProgram();
  let session: string;
  let other: string;
  let port: number;
  let open = 0;

  beforeAll(async () => {
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    ({ port } = app.address() as AddressInfo);
    await server.start({ BELAY_PREVIEW_HOST: 'preview.example.com' });
    server.sandboxes.connect = async (to) => {
      const socket = connect(to, '127.0.0.1');
      const nothing = new AppError('unavailable', `Nothing accepts connections on port ${to}.`);
      await new Promise((resolve, reject) =>
        socket.once('connect', resolve).once('error', () => reject(nothing)),
      );
      open += 1;
      return socket.once('close', () => (open -= 1));
    };
    [session, other] = [await server.session(), await server.session()];
  });
  afterAll(async () => {
    await server.close();
    app.closeAllConnections();
    await new Promise((resolve) => app.close(resolve));
  });

  const at = (of = session, on = port): string => {
    const addresses = server.app.get(PreviewAddress);
    const { host } = new URL(addresses.origin({ session: of, port: on }, new URL(server.url)));
    return host;
  };
  /** As a browser that leads the name to this machine. */
  const ask = (
    host: string,
    path: string,
    { method = 'GET', body, ...headers }: Record<string, string> = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = request(server.url, {
        agent: false,
        method,
        path,
        headers: { host, ...headers },
      });
      sent.on('response', (response) => {
        let text = '';
        response.setEncoding('latin1').on('data', (more: string) => (text += more));
        const end = (): void =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        response.once('end', end).once('error', end);
      });
      sent.once('error', reject).end(body);
    });
  const ticket = async (
    of = session,
    { token = server.token, origin = server.url, path = '/', on = port } = {},
  ): Promise<OpenedPreview & { status: number; detail?: string }> => {
    const answer = await server.fetch(`/api/sessions/${of}/preview`, {
      method: 'POST',
      token,
      body: JSON.stringify({ port: on, path }),
      headers: { 'content-type': 'application/json', ...(origin && { origin }) },
    });
    return { ...((await answer.json()) as OpenedPreview), status: answer.status };
  };
  /** What a browser does with an address: the cookie that it keeps. */
  const enter = async (opened: OpenedPreview): Promise<string> => {
    const { host, pathname, search } = new URL(opened.url);
    const answer = await ask(host, pathname + search, {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'iframe',
    });
    expect(answer.status).toBe(200);
    return (answer.headers['set-cookie'] ?? []).map((each) => each.split(';')[0]).join('; ');
  };
  const cookieOf = async (of = session, more = {}): Promise<string> =>
    enter(await ticket(of, more));
  const ofPage = { 'sec-fetch-site': 'same-origin' };

  it('shows a page by a ticket, and what the page sends', async () => {
    const opened = await ticket(session, { path: '/a?b=1' });
    expect(opened.origin).toBe(`http://${at()}`);
    const { host, pathname, search } = new URL(opened.url);
    const step = await ask(host, pathname + search);
    expect(step.text).toContain('content="0;url=/a?b=1"');
    expect(step.headers['set-cookie']?.[0]).toMatch(
      /^belay_preview=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; Secure; SameSite=None; Partitioned$/,
    );
    const cookie = step.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    seen.length = 0;
    const page = await ask(at(), '/a?b=1', {
      ...ofPage,
      cookie: `theme=dark; ${cookie}; belay_4600=login`,
      referer: `http://${at()}/before`,
    });
    expect(page).toMatchObject({ status: 200, text: 'hello from /a?b=1' });
    expect(seen[0]).toMatchObject({
      host: `localhost:${port}`,
      cookie: 'theme=dark',
      referer: `http://localhost:${port}/before`,
    });
    const origin = `http://${at()}`;
    const sent = { ...ofPage, cookie, origin, method: 'POST', body: 'ü'.repeat(200_000) };
    expect((await ask(at(), '/', sent)).text).toHaveLength(400_000);
    expect(seen[1]?.origin).toBe(`http://localhost:${port}`);
  });

  it('carries WebSockets of the page, and of no other', async () => {
    const cookie = await cookieOf();
    const dial = (headers: Record<string, string>): Promise<WebSocket | number> =>
      new Promise((resolve) => {
        const url = `${server.url.replace('http', 'ws')}/hot?token=x`;
        const socket = new WebSocket(url, { headers: { host: at(), ...headers } });
        socket.once('open', () => resolve(socket));
        socket.once('error', () => undefined);
        socket.once('unexpected-response', (sent, response) => {
          sent.destroy();
          resolve(response.statusCode ?? 0);
        });
      });
    const origin = `http://${at()}`;
    const socket = (await dial({ cookie, origin })) as WebSocket;
    const back = new Promise<string>((resolve) =>
      socket.once('message', (data: Buffer) => resolve(data.toString())),
    );
    socket.send('x'.repeat(200_000));
    expect(await back).toHaveLength(200_000);
    expect(await dial({ origin })).toBe(401);
    expect(await dial({ cookie })).toBe(403);
    for (const foreign of ['http://evil.example', server.url, `http://${at(other)}`, 'null'])
      expect(await dial({ cookie, origin: foreign })).toBe(403);
    expect(await dial({ cookie: await cookieOf(other), origin })).toBe(401);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await server.log.append(session, [newEvent('user', 'pause', { args: {}, message: 'Paused.' })]);
    await closed;
    const paused = await ask(at(), '/', { ...ofPage, cookie });
    expect(paused.status).toBe(409);
    expect(paused.text).toContain('The session is paused. Resume it');
    await server.log.append(session, [newEvent('user', 'resume', { args: {}, message: 'On.' })]);
    expect((await ask(at(), '/', { ...ofPage, cookie })).status).toBe(200);
  });

  it('outlives a WebSocket whose acceptance names a place that is none', async () => {
    const cookie = await cookieOf();
    const sent = request(server.url, {
      agent: false,
      path: '/away',
      headers: {
        host: at(),
        origin: `http://${at()}`,
        cookie,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      },
    });
    const location = await new Promise((resolve, reject) => {
      sent.on('upgrade', ({ headers }, socket) => {
        socket.destroy();
        resolve(headers.location);
      });
      sent.on('response', ({ statusCode }) => reject(new Error(`It was answered ${statusCode}`)));
      sent.once('error', reject).end();
    });
    expect(location).toBe('/');
    expect((await ask(at(), '/', { ...ofPage, cookie })).status).toBe(200);
  });

  it('opens to a ticket once, and to none of another session, port or server', async () => {
    const { url } = await ticket();
    const { pathname, search } = new URL(url);
    expect((await ask(at(other), pathname + search)).status).toBe(401);
    // That has used it up.
    expect((await ask(at(), pathname + search)).status).toBe(401);
    const once = new URL((await ticket()).url);
    const step = () => ask(at(), once.pathname + once.search);
    const first = await step();
    expect([first.status, (await step()).status]).toEqual([200, 401]);
    const cookie = await cookieOf();
    const control = await ask(at(), '/', { ...ofPage, cookie });
    expect(control.status).toBe(200);
    const refused = [
      await ask(at(), '/', ofPage),
      await ask(at(), '/', { ...ofPage, cookie: `belay_preview=${'x'.repeat(43)}` }),
      await ask(at(other), '/', { ...ofPage, cookie }),
      await ask(at(session, port === 1 ? 2 : 1), '/', { ...ofPage, cookie }),
      await ask(at(), '/', { ...ofPage, authorization: `Bearer ${server.token}` }),
    ];
    for (const { status, text } of refused) {
      expect(status).toBe(401);
      expect(text).toContain('This browser has no access to the preview');
    }
  });

  it('answers nothing to other pages', async () => {
    const cookie = await cookieOf();
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      { origin: 'http://evil.example', method: 'POST' },
      { origin: server.url },
      { origin: `http://${at(other)}` },
      { origin: 'null' },
    ];
    for (const headers of foreign) {
      const { status, text } = await ask(at(), '/', { cookie, ...headers });
      expect({ headers, status, shown: text.includes('hello') }).toMatchObject({
        status: 403,
        shown: false,
      });
    }
    const byScript = { cookie, ...ofPage, 'service-worker': 'script' };
    expect((await ask(at(), '/sw.js', byScript)).status).toBe(403);
    // A ticket in an image or a script of another page is not used up.
    const { url } = await ticket();
    const { pathname, search } = new URL(url);
    const asImage = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' };
    expect((await ask(at(), pathname + search, asImage)).status).toBe(403);
    expect((await ask(at(), pathname + search)).status).toBe(200);
    // The control, and who may frame it.
    const page = await ask(at(), '/', { cookie, ...ofPage });
    expect(page.status).toBe(200);
    const policy = page.headers['content-security-policy'];
    expect(policy).toMatch(new RegExp(`, frame-ancestors 'self' ${server.url}$`));
    expect(page.headers['cross-origin-resource-policy']).toBe('same-origin');
  });

  it('is no way to the server itself', async () => {
    const cookie = await cookieOf();
    for (const path of ['/api/sessions', '/health', '/ws', '/login', '/openapi.json']) {
      const headers = { ...ofPage, cookie, authorization: `Bearer ${server.token}` };
      expect((await ask(at(), path, headers)).text).toBe(`hello from ${path}`);
    }
    const absolute = await ask(at(), `${server.url}/api/sessions`, { ...ofPage, cookie });
    expect(absolute.status).toBe(400);
    // The page’s own script, at the address of the server.
    const origin = `http://${at()}`;
    const token = { authorization: `Bearer ${server.token}` };
    const own = new URL(server.url).host;
    expect((await ask(own, '/api/sessions', { ...token, origin, cookie })).status).toBe(403);
    expect((await ask(own, '/api/sessions', { cookie })).status).toBe(401);
    expect((await ask(own, '/api/sessions', token)).status).toBe(200);
    const guessed = at().replace(/-\w+\.localhost/, `-${'0'.repeat(16)}.localhost`);
    for (const host of [
      guessed,
      `q${at()}`,
      `a.${at()}`,
      'p-x.localhost',
      'localhost.evil.example',
    ])
      expect((await ask(host, '/', { cookie })).status).toBe(403);
  });

  it('lets a page load what its session may reach, and no more by the user’s browser', async () => {
    const policyOf = async (egress: object): Promise<string | undefined> => {
      const id = await server.session({ egress });
      const { headers } = await ask(at(id), '/', { ...ofPage, cookie: await cookieOf(id) });
      const [policy] = (headers['content-security-policy'] as string).split(', frame-ancestors');
      return policy?.replaceAll(`ws://${at(id)}`, 'SOCKET');
    };
    const hosts = ['cdn.example.com', '*.fonts.example:8443', 'read-only:example.org', '@npm'];
    expect(await policyOf({ profile: 'list', hosts })).toBe(
      "default-src 'self' data: blob: cdn.example.com *.fonts.example:8443 'unsafe-inline' 'unsafe-eval'; " +
        "connect-src 'self' data: blob: cdn.example.com *.fonts.example:8443 SOCKET; form-action 'self'",
    );
    const none = await policyOf({ profile: 'none', hosts: ['cdn.example.com'] });
    expect(none).not.toContain('example');
    expect(none).toContain("default-src 'self' data: blob: '");
    expect(await policyOf({ profile: 'open' })).toMatch(/^frame-ancestors/);
  });

  it('takes from a program’s answer what is not for its own origin', async () => {
    const cookie = await cookieOf();
    const { headers, text } = await ask(at(), '/hostile', { ...ofPage, cookie });
    expect(text).toBe('page');
    expect(headers['set-cookie']).toEqual(['sid=1; Path=/x; Secure; SameSite=None; Partitioned']);
    expect(headers['content-security-policy']).toMatch(
      new RegExp(`, default-src 'self', frame-ancestors 'self' ${server.url}$`),
    );
    const dropped = ['clear-site-data', 'service-worker-allowed', 'strict-transport-security'];
    const more = ['access-control-allow-origin', 'x-frame-options', 'x-accel-redirect', 'refresh'];
    for (const name of [...dropped, ...more, 'link']) expect(headers).not.toHaveProperty(name);
    const to = async (place: string) => {
      const path = `/to?at=${encodeURIComponent(place)}`;
      return (await ask(at(), path, { ...ofPage, cookie })).headers.location;
    };
    expect(await to('/next?a=1')).toBe('/next?a=1');
    expect(await to(`http://127.0.0.1:${port}/next`)).toBe('/next');
    expect(await to(`http://localhost:${port}//evil.example/`)).toBe('/evil.example/');
    expect(await to('http://0.0.0.0:81/x')).toBe(`http://${at(session, 81)}/x`);
    expect(await to('https://example.com/x')).toBe('https://example.com/x');
    for (const path of ['/huge-head', '/broken']) {
      const broken = await ask(at(), path, { ...ofPage, cookie });
      expect(broken.status).toBe(503);
      expect(broken.text).toContain('The server in the sandbox');
    }
  });

  itLong(
    'keeps an endless answer to its reader’s pace, and a session to its share of connections',
    async () => {
      const cookie = await cookieOf();
      const before = memoryInUse().external;
      const pages = Array.from({ length: 64 }, (_, index) => {
        const sent = request(server.url, {
          agent: false,
          path: index < 4 ? '/endless' : '/silent',
          headers: { host: at(), cookie, ...ofPage },
        });
        // Nobody reads what it answers.
        sent.on('error', () => undefined).on('response', (response) => response.pause());
        return sent.end();
      });
      await until('all are open', () => open === 64, { state: () => `${open}` });
      const full = await ask(at(), '/', { ...ofPage, cookie });
      expect([full.status, full.text]).toEqual([429, expect.stringContaining('Close some pages.')]);
      // Another session has its own.
      const others = await cookieOf(other);
      expect((await ask(at(other), '/', { ...ofPage, cookie: others })).status).toBe(200);
      expect(memoryInUse().external - before).toBeLessThan(100 * 2 ** 20);
      for (const each of pages) each.destroy();
      await until('all are closed', () => open === 0, { state: () => `${open}` });
      expect((await ask(at(), '/', { ...ofPage, cookie })).status).toBe(200);
    },
  );

  it('is for who may operate the session, as long as they may', async () => {
    const made = await server.json<MadeToken>('POST', '/api/tokens', {
      label: 'preview',
      scope: 'operate',
      sessions: [session],
    });
    expect((await ticket(session, { token: server.viewerToken })).status).toBe(403);
    expect((await ticket(other, { token: made.token })).status).toBe(404);
    const opened = await ticket(session, { token: made.token });
    const cookie = await cookieOf(session, { token: made.token });
    expect((await ask(at(), '/', { ...ofPage, cookie })).status).toBe(200);
    await server.json('DELETE', `/api/tokens/${made.id}`);
    expect((await ask(at(), '/', { ...ofPage, cookie })).status).toBe(401);
    const { pathname, search } = new URL(opened.url);
    expect((await ask(at(), pathname + search)).status).toBe(401);
  });

  it('is still for them once the server was restarted, as long as they may', async () => {
    const made = await server.json<MadeToken>('POST', '/api/tokens', {
      label: 'preview',
      scope: 'operate',
      sessions: [session],
    });
    const cookie = await cookieOf(session, { token: made.token });
    const another = await cookieOf(session, { token: made.token });
    await server.restart({ BELAY_PREVIEW_HOST: 'preview.example.com' });
    const shown = async (given: string, of = session) =>
      (await ask(at(of), '/', { ...ofPage, cookie: given })).status;
    expect([await shown(cookie), await shown(cookie, other)]).toEqual([200, 401]);
    await server.json('DELETE', `/api/tokens/${made.id}`);
    expect([await shown(cookie), await shown(another)]).toEqual([401, 401]);
  });

  it('ends with its login, also where it was not used since the server was started', async () => {
    const { code } = await server.json<{ code: string }>('POST', '/api/login-codes');
    const login = await loginPageOf(await server.fetch(`/?code=${code}`, { token: '' }));
    const answer = await server.fetch(`/api/sessions/${session}/preview`, {
      method: 'POST',
      token: '',
      body: JSON.stringify({ port }),
      headers: { ...login.headers, 'content-type': 'application/json', origin: server.url },
    });
    const cookie = await enter((await answer.json()) as OpenedPreview);
    const owners = await cookieOf();
    await server.restart({ BELAY_PREVIEW_HOST: 'preview.example.com' });
    await server.json('DELETE', '/api/logins');
    const shown = async (given: string) =>
      (await ask(at(), '/', { ...ofPage, cookie: given })).status;
    expect([await shown(cookie), await shown(owners)]).toEqual([401, 200]);
  });

  it('says what is missing in a sentence', async () => {
    const cookie = await cookieOf(session, { on: 1 });
    const nothing = await ask(at(session, 1), '/', { ...ofPage, cookie });
    expect([nothing.status, nothing.text]).toEqual([503, expect.stringContaining('port 1.')]);
    const gone = await server.session();
    const before = await cookieOf(gone);
    await server.json('POST', `/api/sessions/${gone}/stop`);
    await until('it is gone', () => !server.sandboxes.agents.has(gone));
    const ended = await ask(at(gone), '/', { ...ofPage, cookie: before });
    expect([ended.status, ended.text]).toEqual([
      503,
      expect.stringContaining('The sandbox of this session is not running.'),
    ]);
    expect((await ticket(gone)).status).toBe(503);
    for (const path of ['//evil.example', '/\\evil.example', 'x', '/a"b c'])
      expect((await ticket(session, { path })).status).toBe(400);
    expect((await ticket('nothing')).status).toBe(404);
  });

  it('has hosts below the domain that is set up, for a dashboard under another name', async () => {
    const dashboard = 'https://belay.example.com';
    await server.restart({
      BELAY_ALLOWED_HOSTS: 'belay.example.com, other.example.com',
      BELAY_PREVIEW_HOST: 'preview.example.com',
      BELAY_PUBLIC_URL: dashboard,
    });
    const from = (host: string, origin: string) =>
      ask(host, `/api/sessions/${session}/preview`, {
        method: 'POST',
        body: JSON.stringify({ port }),
        'content-type': 'application/json',
        authorization: `Bearer ${server.token}`,
        origin,
      });
    const opened = JSON.parse((await from('belay.example.com', dashboard)).text) as OpenedPreview;
    expect(opened.origin).toMatch(
      new RegExp(`^https://p-${session}-${port}-[0-9a-f]{16}\\.preview\\.example\\.com$`),
    );
    const page = await ask('belay.example.com', '/login');
    expect(page.headers['content-security-policy']).toContain('frame-src *.preview.example.com');
    await server.restart({ BELAY_ALLOWED_HOSTS: 'belay.example.com' });
    const without = await from('belay.example.com', 'http://belay.example.com');
    expect([without.status, without.text]).toEqual([
      409,
      expect.stringContaining('set BELAY_PREVIEW_HOST'),
    ]);
  });
});
