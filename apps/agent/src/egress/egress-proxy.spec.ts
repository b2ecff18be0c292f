import { execFile } from 'node:child_process';
import { createServer as createHttpServer, request, type Server } from 'node:http';
import {
  connect,
  createServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { AppError } from '@belay/protocol';
import { startEgressProxy, type EgressProxy } from './egress-proxy.js';

const run = promisify(execFile);

describe('the proxy in a sandbox', () => {
  let proxy: EgressProxy;
  let web: Server;
  let tcp: TcpServer;
  const asked: string[] = [];
  const streams = new Set<Duplex>();
  const seen: { method?: string; url?: string; headers: Record<string, unknown>; body: string }[] =
    [];
  const port = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
  const listen = (server: TcpServer) =>
    new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  beforeAll(async () => {
    web = createHttpServer((incoming, response) => {
      let body = '';
      incoming.on('data', (chunk) => (body += String(chunk)));
      incoming.on('end', () => {
        seen.push({ method: incoming.method, url: incoming.url, headers: incoming.headers, body });
        if (incoming.url === '/broken') {
          response.writeHead(200, { 'content-length': 100 });
          response.write('half');
          setImmediate(() => response.destroy());
          return;
        }
        response.writeHead(
          203,
          'Told By Another',
          [
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
            ['keep-alive', 'timeout=1'],
          ].flat(),
        );
        response.end(`${incoming.method} ${incoming.url} ${body}`);
      });
    });
    // Answers only after the client has ended its half: it proves that halves end one by one.
    tcp = createServer({ allowHalfOpen: true }, (socket) => {
      let bytes = 0;
      socket.on('data', (chunk) => (bytes += chunk.length));
      socket.on('end', () => socket.end(`got ${bytes}`));
    });
    await Promise.all([listen(web), listen(tcp)]);
    proxy = await startEgressProxy({
      open: (host, target) => {
        asked.push(`${host}:${target}`);
        if (host === 'refused.test') {
          return Promise.reject(new AppError('rejected', 'refused.test is not allowed – ask.'));
        }
        const isPaused = host === 'paused.test';
        if (host === 'gone.test') return Promise.reject(new AppError('unavailable', 'No answer.'));
        return new Promise((resolve, reject) => {
          const socket = connect({ host: '127.0.0.1', port: target, allowHalfOpen: true });
          streams.add(socket);
          socket.once('connect', () => resolve(isPaused ? socket.pause() : socket));
          socket.once('error', reject);
        });
      },
    });
  });
  afterAll(async () => {
    await proxy.close();
    web.closeAllConnections();
    await Promise.all([web, tcp].map((server) => new Promise((resolve) => server.close(resolve))));
  });
  beforeEach(() => {
    asked.length = 0;
    seen.length = 0;
    streams.clear();
  });

  const curl = async (...args: string[]) => {
    const env = {
      http_proxy: `http://127.0.0.1:${proxy.port}`,
      https_proxy: `http://127.0.0.1:${proxy.port}`,
    };
    const options = ['-sS', '--max-time', '20', ...args];
    return run('curl', options, { env: { PATH: process.env['PATH'], ...env } });
  };
  const tunnel = (authority: string): Promise<{ socket: Socket; status: number; body: string }> =>
    new Promise((resolve, reject) => {
      const ask = request({
        host: '127.0.0.1',
        port: proxy.port,
        method: 'CONNECT',
        path: authority,
      });
      ask.once('error', reject);
      ask.once('connect', (response, socket, head) => {
        let body = head.toString();
        if (response.statusCode === 200) resolve({ socket, status: 200, body });
        else {
          socket.on('data', (chunk: Buffer) => (body += chunk.toString()));
          socket.on('end', () => resolve({ socket, status: response.statusCode ?? 0, body }));
        }
      });
      ask.end();
    });

  it('passes plain requests on, without what is meant for the proxy alone', async () => {
    const url = `http://registry.test:${port(web)}/pkg?a=%20b`;
    const { stdout } = await curl(
      '-i',
      '-d',
      'size=ü',
      '-H',
      'x-mine: 1',
      '-H',
      'connection: x-hop',
      '-H',
      'x-hop: 1',
      '-H',
      'proxy-authorization: Basic secret',
      url,
    );
    expect(stdout).toMatch(/^HTTP\/1\.1 203 Told By Another/);
    expect(stdout).toContain('POST /pkg?a=%20b size=ü');
    expect(stdout).toMatch(/set-cookie: a=1\r\nset-cookie: b=2/);
    expect(stdout).not.toContain('timeout=1');
    expect(asked).toEqual([`registry.test:${port(web)}`]);
    expect(seen[0]?.headers).toMatchObject({ host: `registry.test:${port(web)}`, 'x-mine': '1' });
    expect(seen[0]?.headers).not.toHaveProperty('x-hop');
    expect(seen[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('passes them on over a connection that comes paused, too, as those of contained programs do', async () => {
    const { stdout } = await curl(`http://paused.test:${port(web)}/pkg`);
    expect(stdout).toBe('GET /pkg ');
  });

  it('keeps the framing of bodies, whatever the method', async () => {
    const url = `http://registry.test:${port(web)}/`;
    await curl('-X', 'GET', '-H', 'transfer-encoding: chunked', '-d', 'body of a GET', url);
    await curl('-X', 'DELETE', '-d', 'body of a DELETE', url);
    await curl('-I', url);
    expect(seen.map(({ method, body }) => [method, body])).toEqual([
      ['GET', 'body of a GET'],
      ['DELETE', 'body of a DELETE'],
      ['HEAD', ''],
    ]);
  });

  it('does not make a reply that broke off look complete', async () => {
    await expect(curl(`http://registry.test:${port(web)}/broken`)).rejects.toMatchObject({
      code: 18,
    });
  });

  it('tunnels both ways, a megabyte and more, each half with its own end', async () => {
    const { socket } = await tunnel(`registry.test:${port(tcp)}`);
    const answered = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.on('end', () => resolve(text));
    });
    socket.end(Buffer.alloc(3_000_000, 1));
    expect(await answered).toBe('got 3000000');
  });

  it('answers a refused host with 403 and the reason, another failure with 502', async () => {
    expect(await tunnel('refused.test:443')).toMatchObject({
      status: 403,
      body: 'refused.test is not allowed – ask.\n',
    });
    expect(await tunnel('gone.test:443')).toMatchObject({ status: 502, body: 'No answer.\n' });
    expect((await curl('http://refused.test/')).stdout).toBe(
      'refused.test is not allowed – ask.\n',
    );
    const { stderr } = await curl('https://refused.test/').catch(
      (error: { stderr: string }) => error,
    );
    expect(stderr).toContain('403');
    const git = await run('git', ['ls-remote', 'https://refused.test/a.git'], {
      env: { PATH: process.env['PATH'], https_proxy: `http://127.0.0.1:${proxy.port}` },
    }).catch((error: { stderr: string }) => error);
    expect(git.stderr).toContain('403');
  });

  it.each(['nonsense', 'host:0', 'host:70000', 'a@b:1', '[::1:1'])(
    'refuses to CONNECT %s',
    async (authority) => {
      expect((await tunnel(authority)).status).toBe(400);
      expect(asked).toEqual([]);
    },
  );

  it('reads IPv6 authorities', async () => {
    await tunnel(`[::1]:${port(tcp)}`).then(({ socket }) => socket.destroy());
    expect(asked).toEqual([`::1:${port(tcp)}`]);
  });

  it('identifies itself to a client that takes it for a web server', async () => {
    const response = await fetch(`http://127.0.0.1:${proxy.port}/`);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/^This is an HTTP proxy/);
  });

  it('closes the connection outside when the client breaks off', async () => {
    const { socket } = await tunnel(`registry.test:${port(tcp)}`);
    const [outside] = streams;
    const closed = new Promise((resolve) => outside?.once('close', resolve));
    socket.resetAndDestroy();
    await closed;
  });

  it('closes tunnels with itself', async () => {
    const own = await startEgressProxy({
      open: (_host, target) => Promise.resolve(connect({ host: '127.0.0.1', port: target })),
    });
    const ask = request({
      host: '127.0.0.1',
      port: own.port,
      method: 'CONNECT',
      path: `a.test:${port(tcp)}`,
    });
    const socket = await new Promise<Socket>((resolve) => {
      ask.once('connect', (_response, opened) => resolve(opened));
      ask.end();
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    await own.close();
    await closed;
  });
});
