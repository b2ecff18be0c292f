import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { dashboardSocket } from '../testing/dashboard-socket.js';
import { tarOfFile } from '../testing/fake-sandboxes.js';
import { TestServer } from '../testing/server.js';

/** `fetch` sets Host by itself; this does not. */
function raw(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject).end();
  });
}

describe('the APIs', () => {
  const server = new TestServer();
  let site: string;

  beforeAll(async () => {
    site = await mkdtemp(join(tmpdir(), 'belay-site-'));
    await mkdir(join(site, 'assets'));
    await writeFile(join(site, 'index.html'), '<!doctype html><title>Belay</title>');
    await writeFile(join(site, 'assets/app-1a2b.js'), 'void 0;');
    await writeFile(join(site, 'assets/app-1a2b.js.br'), 'compressed');
    const examples = join(site, 'examples');
    await mkdir(join(examples, 'sessions/demo/project/src'), { recursive: true });
    await writeFile(join(examples, 'sessions/demo/session.yaml'), 'title: Demo\ntask: Do it\n');
    await writeFile(join(examples, 'sessions/demo/project/src/a.js'), 'let a;');
    await server.start({ BELAY_SITE: site, BELAY_EXAMPLES: examples });
  });
  afterAll(async () => {
    await server.close();
    await rm(site, { recursive: true, force: true });
  });

  describe('to the wrong caller', () => {
    it.each([
      ['GET', '/api/sessions'],
      ['POST', '/api/sessions'],
      ['DELETE', '/api/sessions/x'],
      ['POST', '/api/sessions/x/operations/terminal.run'],
      ['GET', '/api/sessions/x/export?format=zip'],
      ['POST', '/api/workspaces'],
      ['GET', '/api/rules'],
      ['GET', '/api/nothing-here'],
      ['GET', '/assets/app-1a2b.js'],
      ['GET', '/'],
    ])('%s %s is closed', async (method, path) => {
      for (const token of ['', 'wrong', `${server.token}x`]) {
        const response = await server.fetch(path, { method, token });
        // An address that no route has is not told from one that is closed.
        expect([401, 404]).toContain(response.status);
        if (path !== '/api/nothing-here') expect(response.status).toBe(401);
      }
    });

    it('only /health is open; it is quick and contains no secret', async () => {
      const response = await server.fetch('/health', { token: '' });
      expect(response.status).toBe(200);
      const body = await response.text();
      expect(JSON.parse(body)).toMatchObject({ ok: true, database: true });
      expect(body).not.toContain(server.token);
    });

    it.each([
      ['evil.example', undefined, 403],
      ['evil.example:4600', undefined, 403],
      ['127.0.0.1.evil.example', undefined, 403],
      ['localhost@evil.example', undefined, 403],
      ['SAME', 'http://evil.example', 403],
      ['SAME', 'null', 403],
      ['SAME', 'http://127.0.0.1:1', 403],
      ['localhost:PORT', undefined, 200],
      ['[::1]:PORT', undefined, 200],
      ['SAME', 'SAME', 200],
    ])('Host %s with Origin %s answers %i', async (host, origin, status) => {
      const { port, host: same } = new URL(server.url);
      const headers = {
        authorization: `Bearer ${server.token}`,
        host: host === 'SAME' ? same : host.replace('PORT', port),
        ...(origin && { origin: origin === 'SAME' ? server.url : origin }),
      };
      expect(await raw(`${server.url}/api/sessions`, headers)).toBe(status);
    });

    it.each([
      ['no token', {}],
      ['a wrong token', { authorization: 'Bearer wrong' }],
      ['another origin', { authorization: 'TOKEN', origin: 'http://evil.example' }],
      ['another host', { authorization: 'TOKEN', host: 'evil.example' }],
    ])('the socket refuses the upgrade with %s', async (_, given) => {
      const extraHeaders = Object.fromEntries(
        Object.entries(given).map(([name, value]) => [
          name,
          value.replace('TOKEN', `Bearer ${server.token}`),
        ]),
      );
      const socket = dashboardSocket(server.url, extraHeaders);
      const refused = await new Promise<boolean>((resolve) => {
        socket.on('connect', () => resolve(false));
        socket.on('connect_error', () => resolve(true));
      });
      socket.close();
      expect(refused).toBe(true);
    });

    it('a viewer’s token can read, but change nothing', async () => {
      const token = server.viewerToken;
      expect((await server.fetch('/api/sessions', { token })).status).toBe(200);
      const response = await server.fetch('/api/sessions', { token, method: 'POST' });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ code: 'forbidden' });
      const id = await server.session();
      const call = (name: string, body: object) =>
        server.fetch(`/api/sessions/${id}/operations/${name}`, {
          token,
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        });
      const page = { path: 'a', content: '', from: 1, to: 0, lines: 0, size: 0, next: null };
      server.sandboxes.answer = () => page;
      expect((await call('files.read', { path: 'a' })).status).toBe(200);
      expect((await call('files.write', { path: 'a', content: '' })).status).toBe(403);
      expect((await call('workspace.trust', {})).status).toBe(403);
      expect((await call('files.read%2f..%2fx', {})).status).toBe(404);
      const socket = dashboardSocket(server.url, { authorization: `Bearer ${token}` });
      const keys = { session: 's', terminal: 'main', data: 'x' };
      expect(await socket.emitWithAck('terminal.keys', keys)).toMatchObject({
        ok: false,
        error: { code: 'forbidden' },
      });
      expect(await socket.emitWithAck('fleet', {})).toEqual({ ok: true, value: {} });
      socket.close();
    });
  });

  it('keeps its tokens in a file that only the user reads', async () => {
    const file = join(server.data, 'server.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      token: server.token,
      viewerToken: server.viewerToken,
    });
  });

  it('turns the token of an address into a cookie, and opens the site with it', async () => {
    const first = await server.fetch(`/sessions/a?token=${server.token}&x=1`, { token: '' });
    expect(first.status).toBe(302);
    const [loginPage, fragment] = (first.headers.get('location') ?? '').split('#');
    expect(loginPage).toBe('/login');
    expect(new URLSearchParams(fragment).get('to')).toBe('/sessions/a?x=1');
    const cookie = first.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Strict/);
    const page = await server.fetch('/sessions/a', {
      token: '',
      headers: { cookie: cookie.split(';')[0] ?? '' },
    });
    expect(await page.text()).toContain('<title>Belay</title>');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('content-security-policy')).toMatch(/script-src 'self';/);
    const wrong = await server.fetch('/?token=wrong', {
      token: '',
      headers: { accept: 'text/html' },
    });
    expect(wrong.status).toBe(401);
    expect(await wrong.text()).toContain('Belay is locked');
  });

  it('serves hashed files for ever, compressed when they are, and nothing outside the site', async () => {
    const asset = await server.fetch('/assets/app-1a2b.js', {
      headers: { 'accept-encoding': 'identity' },
    });
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(await asset.text()).toBe('void 0;');
    const head = await server.fetch('/assets/app-1a2b.js', {
      method: 'HEAD',
      headers: { 'accept-encoding': 'gzip, br' },
    });
    expect(head.headers.get('content-encoding')).toBe('br');
    for (const path of [
      '/assets/no.js',
      '/..%2f..%2fetc/passwd.txt',
      '/%2e%2e/x.js',
      '//evil.js',
    ]) {
      expect((await server.fetch(path)).status).toBe(404);
    }
  });

  it.each([
    ['POST', '/api/sessions', { model: 'scripted:x' }, 'task'],
    ['POST', '/api/sessions', { task: 'x', model: 'nobody' }, 'provider'],
    ['POST', '/api/sessions', { task: 'x', model: 'scripted:x', budgets: { steps: -1 } }, 'steps'],
    ['GET', '/api/sessions/x/events?after=-1', undefined, 'after'],
    ['POST', '/api/rules', { scope: 'all', operation: 'x' }, 'pattern'],
  ])('%s %s %j is refused with a sentence that names %s', async (method, path, body, name) => {
    expect(await server.json(method, path, body)).toMatchObject({
      status: 400,
      code: 'invalid_input',
      detail: expect.stringContaining(name),
    });
  });

  it('answers problem documents for what is not there, broken or too large', async () => {
    const response = await server.fetch('/api/nothing');
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await response.json()).toMatchObject({
      type: 'about:blank',
      code: 'not_found',
      detail: 'There is nothing at GET /api/nothing.',
    });
    const broken = await server.fetch('/api/sessions', {
      method: 'POST',
      body: '{"task":',
      headers: { 'content-type': 'application/json' },
    });
    expect(await broken.json()).toMatchObject({
      status: 400,
      code: 'invalid_input',
      detail: expect.stringMatching(/^The request cannot be read: .+\.$/),
    });
    const typed = await server.fetch('/api/sessions', { method: 'POST', body: 'x' });
    expect(await typed.json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('content-type application/json'),
    });
    const long = { task: 'x'.repeat(16 * 1024 * 1024), model: 'scripted:x' };
    expect(await server.json('POST', '/api/sessions', long)).toMatchObject({ status: 413 });
    const large = await server.fetch('/api/blobs', {
      method: 'POST',
      body: Buffer.alloc(17 * 1024 * 1024),
      headers: { 'content-type': 'image/png' },
    });
    expect(await large.json()).toMatchObject({ status: 413, code: 'too_large' });
  });

  it('takes the user’s call of an operation to the agent', async () => {
    const id = await server.session();
    const entry = { path: 'src', kind: 'folder', size: 0 };
    const asked: unknown[] = [];
    server.sandboxes.answer = (_, input) => {
      asked.push(input);
      return { entries: [entry], untraversed: [] };
    };
    const call = (name: string, input: unknown) =>
      server.json('POST', `/api/sessions/${id}/operations/${name}`, input);
    expect(await call('files.list', { path: 'src' })).toMatchObject({
      status: 200,
      entries: [entry],
    });
    expect(asked).toMatchObject([{ path: 'src', depth: 3 }]);
    expect(await call('files.read', {})).toMatchObject({ status: 400, code: 'invalid_input' });
    expect(await call('plan.update', { markdown: '' })).toMatchObject({ status: 404 });
    expect(await call('__proto__', {})).toMatchObject({ status: 404 });
    await server.sandboxes.stop(id);
    expect(await call('files.list', {})).toMatchObject({ status: 409, code: 'conflict' });
  });

  it('keeps pictures, and shows nothing but pictures', async () => {
    const id = await server.session();
    const put = async (type: string, body: string) => {
      const headers = { 'content-type': type };
      const response = await server.fetch('/api/blobs', { method: 'POST', body, headers });
      const { blob } = (await response.json()) as { blob: string };
      return server.fetch(`/api/sessions/${id}/blobs/${blob}`);
    };
    const picture = await put('image/png', 'png');
    expect(picture.headers.get('content-type')).toBe('image/png');
    expect(picture.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await picture.text()).toBe('png');
    for (const type of ['text/html', 'image/svg+xml', 'application/json']) {
      const page = await put(type, `"${type}"`);
      expect(page.headers.get('content-disposition')).toContain('attachment');
      expect(page.headers.get('content-type')).toContain('application/octet-stream');
      expect(await page.text()).toBe(`"${type}"`);
    }
    expect((await server.fetch(`/api/sessions/${id}/blobs/${'0'.repeat(64)}`)).status).toBe(404);
    expect((await server.fetch(`/api/sessions/${id}/blobs/..%2fserver.json`)).status).toBe(404);
  });

  it('lists the examples, and starts one with its project', async () => {
    expect(await server.json('GET', '/api/examples')).toEqual([
      { name: 'demo', title: 'Demo', task: 'Do it', model: 'scripted:example:demo' },
    ]);
    const id = await server.session({ workspace: 'example:demo' });
    expect(server.sandboxes.agents.get(id)?.files).toContain('src/a.js');
    expect(server.sandboxes.agents.get(id)?.files).toContain('let a;');
  });

  it('refuses a workspace that is not a tar archive', async () => {
    const upload = (body: string) => server.fetch('/api/workspaces', { method: 'POST', body });
    expect((await upload('PK\u0003\u0004 this is a zip'.padEnd(2_000))).status).toBe(400);
    expect((await upload('')).status).toBe(400);
    expect((await upload(tarOfFile('x'))).status).toBe(201);
  });

  /** An upload of 128 KiB of which half is sent. */
  const beginUpload = (half: string) => {
    const { hostname, host, port } = new URL(server.url);
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    const head = [
      'POST /api/workspaces HTTP/1.1',
      `host: ${host}`,
      `authorization: Bearer ${server.token}`,
      `content-length: ${2 * half.length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${half}`);
    return socket;
  };

  it('keeps nothing of an upload that breaks off', async () => {
    const unfinished = async () =>
      (await readdir(join(server.data, 'workspaces'))).filter((name) => name.endsWith('.part'));
    const socket = beginUpload('\0'.repeat(64 * 1024));
    await until('the upload', async () => (await unfinished()).length === 1);
    socket.destroy();
    await until('its end', async () => (await unfinished()).length === 0);
  });

  it('answers an upload that it refuses before it has read all of it', async () => {
    const half = 'x'.repeat(64 * 1024);
    const socket = beginUpload(half);
    let received = '';
    socket.on('data', (text: string) => (received += text));
    await until('the refusal', () => received.startsWith('HTTP/1.1 400 '));
    // The connection is good for the next request.
    socket.write(`${half}GET /health HTTP/1.1\r\nhost: ${new URL(server.url).host}\r\n\r\n`);
    await until('the next answer', () => received.includes('HTTP/1.1 200 '));
    socket.destroy();
  });

  it('gives bytes of a terminal from any offset', async () => {
    const id = await server.session();
    const { TerminalLog } = await import('../logs/terminal-log.js');
    await server.app.get(TerminalLog).append(id, 'main', 0, Buffer.from('0123456789'));
    const read = async (query: string) =>
      (await server.fetch(`/api/sessions/${id}/terminals/main${query}`)).text();
    expect(await read('')).toBe('0123456789');
    expect(await read('?from=4&to=6')).toBe('45');
    expect(await read('?from=20')).toBe('');
    expect(await server.json('GET', `/api/sessions/${id}/terminals`)).toEqual([
      { terminal: 'main', size: 10 },
    ]);
    expect((await server.fetch(`/api/sessions/${id}/terminals/..%2fx`)).status).toBe(400);
  });
});
