import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect, createServer as createTlsServer } from 'node:tls';
import { itLong, sampled } from '@belay/testing';
import { certificate, EgressBench } from '../testing/egress-bench.js';

describe('attacks: plain HTTP over a connection to an allowed host', () => {
  let bench: EgressBench;
  let port: number;
  let tls: number;
  let raw: number;
  const reached: string[] = [];
  const line = ({ method, url, headers }: IncomingMessage) =>
    `${method} ${headers.host?.replace(/:\d+/, '')} ${url}`;

  beforeEach(async () => {
    reached.length = 0;
    bench = new EgressBench();
    const web = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        reached.push(line(request));
        response.end(`web ${body}`);
      });
    });
    web.on('upgrade', (request, socket) => {
      reached.push(line(request));
      socket.write('HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n');
      socket.pipe(socket);
    });
    port = await bench.listen(web);
    tls = await bench.listen(
      createTlsServer(certificate(), (socket) => socket.end('tls').on('error', () => undefined)),
    );
    // Takes whatever it gets for a request, as a lenient server might.
    raw = await bench.listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', (chunk) => {
          reached.push(chunk.toString());
          socket.write('raw ');
        });
      }),
    );
  });
  afterEach(() => bench.close());

  const open = (hosts: string[], profile: 'list' | 'packages' = 'list') =>
    bench.open({ profile, hosts }, [
      `http://allowed.test:${port}/`,
      `https://allowed.test:${tls}/`,
      `http://allowed.test:${raw}/`,
    ]);
  const send = async (bytes: string, to = port): Promise<string> => {
    const stream = await bench.connect('allowed.test', to);
    stream.on('error', () => undefined);
    stream.write(bytes);
    return text(stream).catch(() => 'broken off');
  };
  const request = (start: string, ...headers: string[]) =>
    `${[`${start} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n`;
  const own = () => `Host: allowed.test:${port}`;

  describe('that asks for another host', () => {
    beforeEach(() => open([`allowed.test:${port}`, `allowed.test:${raw}`]));
    const named = /may only name the host that was allowed|one Host header|400 Bad Request/;

    it.each(
      sampled(2, [
        ['in its Host', () => request('GET /', 'Host: other.test')],
        ['at another port', () => request('GET /', 'Host: allowed.test:1')],
        ['with an empty Host', () => request('GET /', 'Host:')],
        ['with a user', () => request('GET /', `Host: allowed.test:${port}@other.test`)],
        ['in a second Host', () => request('GET /', own(), 'Host: other.test')],
        ['in a first Host', () => request('GET /', 'Host: other.test', own())],
        ['in its address', () => request('GET http://other.test/', own())],
        ['after empty lines', () => `\r\n\r\n${request('GET /', 'Host: other.test')}`],
      ]),
    )('%s', async (_, bytes) => {
      expect(await send(bytes())).toMatch(named);
      expect(reached).toEqual([]);
      expect((await bench.events(1))[0]?.args).toMatchObject({ verdict: 'refused' });
      expect(await send(request('GET /a', own()))).toMatch(/^HTTP\/1\.1 200 [^]*web/);
      expect(reached).toEqual(['GET allowed.test /a']);
    });

    it('in the second request of a connection, at once or later', async () => {
      const [first, second] = [request('GET /a', own()), request('GET /b', 'Host: other.test')];
      expect(await send(first + second)).toMatch(/200 OK/);
      const stream = await bench.connect('allowed.test', port);
      stream.on('error', () => undefined).write(first);
      stream.once('data', () => stream.write(second));
      await text(stream).catch(() => undefined);
      expect(reached).toEqual(['GET allowed.test /a', 'GET allowed.test /a']);
    });

    it('hidden behind a body with two lengths', async () => {
      const smuggled = request('GET /evil', 'Host: other.test');
      const headers = [own(), 'Content-Length: 4', 'Transfer-Encoding: chunked'];
      await send(`${request('POST /', ...headers)}0\r\n\r\n${smuggled}`);
      expect(reached.join()).not.toContain('other.test');
      expect(await send(`${request('POST /', own(), 'Content-Length: 2')}ok`)).toContain('web ok');
    });

    it('by HTTP/2 without TLS, by CONNECT or by an unknown method', async () => {
      await send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      await send(request('CONNECT other.test:80', 'Host: other.test'));
      await send(request('FOO /', 'Host: other.test'), raw);
      await send(request('foo /', 'Host: other.test'), raw);
      expect(reached).toEqual([]);
    });

    itLong('in pieces, one byte at a time', async () => {
      const stream = await bench.connect('allowed.test', raw);
      stream.on('error', () => undefined);
      for (const sign of request('XYZ /', 'Host: other.test')) stream.write(sign);
      await text(stream).catch(() => undefined);
      expect(reached.join('')).not.toContain('Host');
      const honest = await bench.connect('allowed.test', port);
      for (const sign of request('GET /slow', own())) honest.write(sign);
      expect(await text(honest)).toMatch(/200 OK/);
    });
  });

  it('leaves other protocols alone, and WebSockets to the host itself', async () => {
    await open([`allowed.test:${port}`, `allowed.test:${raw}`]);
    const stream = await bench.connect('allowed.test', raw);
    const answered = new Promise<Buffer>((resolve) => stream.once('data', resolve));
    stream.write('SSH-2.0-test machine\r\n');
    expect((await answered).toString()).toBe('raw ');
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'];
    const socket = await bench.connect('allowed.test', port);
    socket.write(request('GET /live', own(), ...upgrade));
    expect(await received(socket, /101/)).toContain('101 Switching');
    socket.write('ping');
    expect(await received(socket, /ping/)).toContain('ping');
    const foreign = await send(request('GET /live', 'Host: other.test', ...upgrade));
    expect(foreign).toMatch(/403 Forbidden/);
    expect(reached).toEqual(['SSH-2.0-test machine\r\n', 'GET allowed.test /live']);
  });

  describe('that uploads', () => {
    const put = () => `${request('PUT /package', own(), 'Content-Length: 6')}secret`;

    it.each(
      sampled(2, [
        ['PUT', put],
        ['POST', () => `${request('POST /', own(), 'Content-Length: 1')}x`],
        ['DELETE', () => request('DELETE /package', own())],
        ['GET with a body', () => `${request('GET /', own(), 'Content-Length: 6')}secret`],
        [
          'GET with a chunked body',
          () => `${request('GET /', own(), 'Transfer-Encoding: chunked')}1\r\nx\r\n0\r\n\r\n`,
        ],
        ['WebSocket', () => request('GET /', own(), 'Connection: Upgrade', 'Upgrade: websocket')],
      ]),
    )('is refused at a registry: %s', async (_, bytes) => {
      await open([], 'packages');
      expect(await send(bytes())).toMatch(/403 Forbidden[^]*may only be read/);
      expect(reached).toEqual([]);
      expect(await send(request('GET /package', own()))).toMatch(/200 OK/);
      expect(await send(request('HEAD /package', own()))).toMatch(/200 OK/);
    });

    it('passes where the user allowed the host itself', async () => {
      await open([`allowed.test:${port}`], 'packages');
      expect(await send(put())).toContain('web secret');
    });

    it('is refused at a host that is read-only, as is all that cannot be seen', async () => {
      const hosts = [port, tls, raw].map((each) => `read-only:allowed.test:${each}`);
      await open([...hosts, `allowed.test:${port}`]);
      expect(await send(put())).toMatch(/403 Forbidden/);
      expect(await send(request('GET /package', own()))).toMatch(/200 OK/);
      const stream = await bench.connect('allowed.test', tls);
      const socket = connect({ socket: stream, servername: 'allowed.test' });
      await expect(new Promise((_, reject) => socket.once('error', reject))).rejects.toThrow();
      const other = await bench.connect('allowed.test', raw);
      other.on('error', () => undefined).write('SSH-2.0-x\r\n');
      await text(other).catch(() => undefined);
      expect(reached).toEqual(['GET allowed.test /package']);
      const refused = (await bench.events(4)).map(({ args }) => String(args['reason']));
      expect(
        refused.filter((reason) => /enforced only for plain HTTP: use http/.test(reason)),
      ).toHaveLength(2);
    });

    itLong('is refused at a host that is read-only and speaks first', async () => {
      const greeting = await bench.listen(
        createTcpServer((socket) => {
          socket.on('error', () => undefined).write('220 ready\r\n');
          socket.on('data', (chunk) => reached.push(chunk.toString()));
        }),
      );
      const registries = [`http://allowed.test:${greeting}/`, `http://other.test:${greeting}/`];
      const hosts = [`read-only:allowed.test:${greeting}`, `other.test:${greeting}`];
      await bench.open({ profile: 'list', hosts }, registries);
      const stream = await bench.connect('allowed.test', greeting);
      stream.on('error', () => undefined);
      expect(await text(stream).catch(() => '')).toBe('');
      const honest = await bench.connect('other.test', greeting);
      expect(await received(honest, /ready/)).toBe('220 ready\r\n');
      expect(reached).toEqual([]);
    });

    it('cannot be seen at a registry by TLS, which therefore passes', async () => {
      await open([], 'packages');
      const stream = await bench.connect('allowed.test', tls);
      const socket = connect({
        socket: stream,
        servername: 'allowed.test',
        rejectUnauthorized: false,
      });
      expect(await text(socket)).toBe('tls');
    });
  });
});

async function received(stream: Duplex, pattern: RegExp): Promise<string> {
  let all = '';
  for (;;) {
    all += String(await new Promise<Buffer>((resolve) => stream.once('data', resolve)));
    if (pattern.test(all)) return all;
  }
}
