import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '@belay/testing';
import { answerUnreadable } from './answer-unreadable.js';

describe('what cannot be read as a request', () => {
  let server: Server;
  let port: number;
  let waiting: number;
  beforeEach(async () => {
    waiting = 0;
    server = createServer((request, response) => {
      if (request.url === '/stream') response.write('part');
      else if (request.url === '/slow') waiting += 1;
      else request.resume().once('end', () => response.end('ok'));
    });
    answerUnreadable(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const open = (sent: string) => {
    const client = connect(port, '127.0.0.1');
    client.write(sent);
    return client;
  };

  it('gets a problem: too many headers', async () => {
    const url = `http://127.0.0.1:${port}/`;
    const get = (headers: Record<string, string>) => fetch(url, { headers });
    const refused = await get({ 'x-long': 'x'.repeat(20_000) });
    expect([refused.status, refused.headers.get('content-type')]).toEqual([
      413,
      'application/problem+json',
    ]);
    expect(await refused.json()).toMatchObject({ status: 413, code: 'too_large' });
    expect((await get({ 'x-long': 'x' })).status).toBe(200);
  });

  it.each([
    'nonsense\r\n\r\n',
    'GET / HTTP/1.1\r\nno colon\r\n\r\n',
    'POST / HTTP/1.1\r\nhost: server\r\ntransfer-encoding: chunked\r\n\r\nno size\r\n',
    '\x16\x03\x01\x02\0',
  ])('gets a problem: %j', async (sent) => {
    const answer = await text(open(sent));
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 'invalid_input' });
  });

  it('gets nothing in the middle of another response', async () => {
    const client = open('GET /stream HTTP/1.1\r\nhost: server\r\n\r\n');
    let answer = '';
    client.setEncoding('utf8').on('data', (piece: string) => (answer += piece));
    await until('the response has begun', () => answer.includes('part'));
    const closed = once(client, 'close');
    client.on('error', () => undefined).write('nonsense\r\n\r\n');
    await closed;
    expect(answer).not.toContain('invalid_input');
  });

  it.each([
    ['in progress', '/stream', 'part'],
    ['to come', '/slow', ''],
  ])('gets nothing while a response to a request before it is %s', async (_, path, begun) => {
    const get = (url: string) => `GET ${url} HTTP/1.1\r\nhost: server\r\n\r\n`;
    const client = open(get(path) + get('/slow'));
    let answer = '';
    client.setEncoding('utf8').on('data', (piece: string) => (answer += piece));
    const requests = path === '/slow' ? 2 : 1;
    await until('both requests', () => waiting === requests && answer.includes(begun));
    const closed = once(client, 'close');
    client.on('error', () => undefined).write('nonsense\r\n\r\n');
    await closed;
    expect(answer).not.toContain('HTTP/1.1 400');
  });

  it('gets a problem after the response to a request before it', async () => {
    const client = open('GET / HTTP/1.1\r\nhost: server\r\n\r\n');
    const [first] = (await once(client.setEncoding('utf8'), 'data')) as [string];
    expect(first).toContain('200 OK');
    client.write('nonsense\r\n\r\n');
    expect(await text(client)).toContain('invalid_input');
  });
});
