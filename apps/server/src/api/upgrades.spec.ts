import { once } from 'node:events';
import { connect } from 'node:net';
import { TestServer } from '../testing/server.js';

describe('a request with the header Upgrade', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  /** The response to a request as these exact lines, up to the end of the connection. */
  async function ask(line: string, headers: Record<string, string>, body = ''): Promise<string> {
    const { hostname, port, host } = new URL(server.url);
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    let answer = '';
    socket.on('data', (text: string) => (answer += text));
    const all = { Host: host, Authorization: `Bearer ${server.token}`, ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    socket.write(`${[`${line} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`);
    await once(socket, 'close');
    return answer;
  }

  it.each(['h2c', 'TLS/1.0', 'foo', 'h2c, websocket', 'foo/2'])(
    'is answered as without it: %s',
    async (protocol) => {
      const upgrade = { Connection: 'Upgrade, close', Upgrade: protocol };
      expect(await ask('GET /health', upgrade)).toMatch(/^HTTP\/1\.1 200 .*"ok":/s);
      expect(await ask('GET /api/me', upgrade)).toMatch(/^HTTP\/1\.1 200 .*"scope":"admin"/s);
      expect(await ask('GET /ws', upgrade)).toMatch(/^HTTP\/1\.1 404 .*problem\+json/s);
      const body = JSON.stringify({ label: 'with an upgrade', scope: 'view' });
      const json = {
        ...upgrade,
        'Content-Type': 'application/json',
        'Content-Length': `${body.length}`,
      };
      expect(await ask('POST /api/tokens', json, body)).toMatch(/^HTTP\/1\.1 201 .*blt_/s);
      expect(await ask('DELETE /api/sessions/none', upgrade)).toMatch(/^HTTP\/1\.1 404 /);
    },
  );

  it('is answered when it offers HTTP/2 like Java’s client', async () => {
    const offer = {
      Connection: 'Upgrade, HTTP2-Settings, close',
      Upgrade: 'h2c',
      'HTTP2-Settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
    };
    expect(await ask('GET /health', offer)).toMatch(/^HTTP\/1\.1 200 .*"ok":/s);
  });

  const handshake = {
    Connection: 'Upgrade',
    Upgrade: 'WebSocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };

  it.each(['/health', '/', '/api/sessions', '/ws/', '/none?a=b', '/socket'])(
    'for a WebSocket where there is none gets a 404: %s',
    async (path) => {
      const answer = await ask(`GET ${path}`, handshake);
      expect(answer).toMatch(/^HTTP\/1\.1 404 .*problem\+json/s);
      expect(answer).toContain('Use one of /ws, ');
    },
  );

  it('is not a handshake with a method other than GET', async () => {
    const answer = await ask('POST /ws', { ...handshake, Connection: 'Upgrade, close' });
    expect(answer).toMatch(/^HTTP\/1\.1 404 .*problem\+json/s);
  });
});
