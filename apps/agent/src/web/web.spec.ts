import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { AppError, webOperations } from '@belay/protocol';
import { startEgressProxy } from '../egress/egress-proxy.js';
import { htmlText } from './html-text.js';
import { createWeb } from './web.js';

const page = `<!doctype html><head><title>A &amp; B</title><style>p{}</style></head>
<body><nav><a href="/x">Home</a></nav><h1>Big</h1><p>One<br>two &lt;three&gt;</p>
<ul><li>first</li><li><a href="https://e.test/y?a=1&amp;b=2">second</a></li></ul>
<pre>  keep
    this</pre><script>alert(1)</script><table><tr><td>a</td><td>b</td></tr></table></body>`;

describe('readable text of HTML', () => {
  it('keeps structure and links and leaves out what is not for reading', () => {
    expect(htmlText(page, 'http://site.test/dir/')).toBe(
      `[Home](http://site.test/x)

# Big

One
two <three>

- first
- [second](https://e.test/y?a=1&b=2)

  keep
    this

a | b |`,
    );
  });

  it('never throws on what is not HTML', () => {
    for (const text of [
      '<',
      '<a',
      '<a href="',
      '&#xffffffff;',
      '</p></p>',
      '<!doctype',
      '<p <b>>',
    ]) {
      expect(typeof htmlText(text, 'http://x.test')).toBe('string');
    }
  });
});

describe('web.fetch', () => {
  let server: Server;
  let site: string;
  const asked: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    if (pathname === '/page') {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(page));
    } else if (pathname === '/moved') {
      response.writeHead(302, { location: '/page' }).end();
    } else if (pathname === '/around') {
      response.writeHead(302, { location: '/around' }).end();
    } else if (pathname === '/long') {
      response.setHeader('content-type', 'text/plain');
      response.end('0123456789'.repeat(2_500));
    } else if (pathname === '/bytes') {
      response.setHeader('content-type', 'image/png');
      response.end(Buffer.from([0, 1, 2]));
    } else if (pathname === '/echo') {
      request.pipe(response.setHeader('content-type', 'text/plain'));
    }
  };
  beforeAll(async () => {
    server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    site = `http://localhost:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const fetching = async (input: object, proxy: string | null = null) => {
    const web = createWeb({
      proxy,
      certificates: null,
      search: async () => ({ results: [] }),
    });
    const call = { id: 'c', source: 'agent', signal: AbortSignal.timeout(50_000) } as const;
    return web['web.fetch'](webOperations['web.fetch'].input.parse(input), call);
  };

  it('reads a page, unpacked and after redirects', async () => {
    const result = await fetching({ url: `${site}/moved` });
    expect(result).toMatchObject({ url: `${site}/page`, status: 200, next: null });
    expect(result.text).toMatch(/^# A & B\n\n/);
  });

  it('comes in pages', async () => {
    const first = await fetching({ url: `${site}/long` });
    expect(first).toMatchObject({ next: 20_000 });
    const second = await fetching({ url: `${site}/long`, offset: 20_000 });
    expect(second).toMatchObject({ next: null });
    expect(first.text + second.text).toBe('0123456789'.repeat(2_500));
  });

  it('sends a body, and reports what is not text', async () => {
    const echo = await fetching({ url: `${site}/echo`, method: 'POST', body: 'hello' });
    expect(echo.text).toBe('hello');
    expect((await fetching({ url: `${site}/bytes` })).text).toMatch(/3 bytes of image\/png/);
  });

  it.each([
    ['/around', { code: 'unavailable', message: /redirects more than/ }, 60],
    ['/never', { code: 'timeout', message: /did not answer in time/ }, 1],
  ])('%s fails with a sentence', async (path, { code, message }, timeout) => {
    await expect(fetching({ url: site + path, timeout })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it('takes fractions of seconds, and refuses headers that HTTP does not allow', async () => {
    const timeout = 20.0005;
    expect(await fetching({ url: `${site}/page`, timeout })).toMatchObject({ status: 200 });
    const brief = fetching({ url: `${site}/never`, timeout: 0.0123 });
    await expect(brief).rejects.toMatchObject({ code: 'timeout' });
    for (const headers of [{ 'a b': 'x' }, { '': 'x' }, { x: 'a\nb' }, { x: 'a\0' }]) {
      const asking = fetching({ url: `${site}/page`, headers });
      await expect(asking).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(/^headers: ".*" cannot be sent\./) as string,
      });
    }
    const headers = { 'x-name': 'Zoë' };
    expect(await fetching({ url: `${site}/page`, headers })).toMatchObject({ status: 200 });
  });

  it('goes out by the proxy and to loopback directly; a refusal has its reason', async () => {
    const proxy = await startEgressProxy({
      open: async (host, port) => {
        asked.push(`${host}:${port}`);
        if (host === 'refused.test') throw new AppError('rejected', 'This host is not allowed.');
        return connect((server.address() as AddressInfo).port, '127.0.0.1');
      },
    });
    const address = `http://127.0.0.1:${proxy.port}`;
    try {
      const out = await fetching({ url: 'http://allowed.test/page' }, address);
      expect(out.status).toBe(200);
      await fetching({ url: `${site}/page` }, address);
      expect(asked).toEqual(['allowed.test:80']);
      await expect(fetching({ url: 'https://refused.test/' }, address)).rejects.toMatchObject({
        code: 'rejected',
        message: 'refused.test is not allowed from this sandbox.',
      });
    } finally {
      await proxy.close();
    }
  });
});
