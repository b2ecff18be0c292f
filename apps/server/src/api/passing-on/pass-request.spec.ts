import { once } from 'node:events';
import {
  createServer,
  request,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { problemOf, problemType, type AppError } from '@belay/protocol';
import { keptBytes, until } from '@belay/testing';
import { WebSocket, WebSocketServer } from 'ws';
import { keepConnections } from '../../keep-connections.js';
import { PeerPort } from '../../peers/peer-port.js';
import { refuseOnSocket } from '../../refuse-on-socket.js';
import { passRequest, passUpgrade } from './pass-request.js';

describe('a request for the server of its session', () => {
  let port: PeerPort;
  let answer: RequestListener;
  let owner: Server;
  let entry: Server;
  let at: { host: string; port: number };
  let cut: AppError[];

  beforeEach(async () => {
    cut = [];
    owner = createServer((asked, response) => answer(asked, response));
    keepConnections(owner);
    const sockets = new WebSocketServer({ noServer: true });
    owner.on('upgrade', (asked, socket, head) => {
      if (asked.url !== '/socket') return void socket.end('HTTP/1.1 403 No\r\nx-why: so\r\n\r\nno');
      sockets.handleUpgrade(asked, socket, head, (opened) =>
        opened.on('message', (data: Buffer) =>
          opened.send(`${asked.headers['origin']} ${data.toString()}`),
        ),
      );
    });
    port = await PeerPort.open({ host: '127.0.0.1' }, '127.0.0.1:0');
    port.work(owner);
    const there = { address: port.address, key: port.key };
    entry = createServer((asked, response) => {
      const onFailed = (error: AppError): void => {
        const { status } = problemOf(error);
        response.writeHead(status, { 'content-type': problemType });
        response.end(JSON.stringify(problemOf(error)));
      };
      const onCut = (error: AppError): void => void cut.push(error);
      passRequest(asked, response, { owner: there, onFailed, onCut });
    });
    entry.on('upgrade', (asked, socket, head) => {
      const onFailed = (error: AppError): void => refuseOnSocket(socket, error);
      passUpgrade(asked, socket, { owner: there, head, onFailed });
    });
    await once(entry.listen(0, '127.0.0.1'), 'listening');
    at = { host: '127.0.0.1', port: (entry.address() as AddressInfo).port };
  });
  afterEach(() => {
    port.close();
    owner.closeAllConnections();
    entry.closeAllConnections();
    entry.close();
  });

  const url = (path: string): string => `http://127.0.0.1:${at.port}${path}`;
  const responseOf = async (sent: ReturnType<typeof request>): Promise<IncomingMessage> =>
    ((await once(sent, 'response')) as [IncomingMessage])[0];

  it('arrives whole, without the headers of its connection, and so does the answer', async () => {
    answer = (asked, response) => {
      const { method, url: path, headers, socket } = asked;
      void text(asked).then((body) =>
        response
          .writeHead(201, 'Made', { 'set-cookie': ['a=1', 'b=2'], 'x-own': 'yes' })
          .end(JSON.stringify({ method, path, headers, from: socket.remoteAddress, body })),
      );
    };
    const sent = request({
      ...at,
      method: 'POST',
      path: '/a%20b?c=d&e',
      headers: {
        authorization: 'Bearer t',
        'x-hop': 'no',
        connection: 'x-hop',
        expect: '100-continue',
      },
    });
    const reply = await responseOf(sent.end('{"é":1}'));
    expect(reply).toMatchObject({ statusCode: 201, headers: { 'x-own': 'yes' } });
    expect(reply.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    const seen = JSON.parse(await text(reply)) as { headers: object };
    expect(seen).toMatchObject({
      method: 'POST',
      path: '/a%20b?c=d&e',
      from: '127.0.0.1',
      body: '{"é":1}',
      headers: { authorization: 'Bearer t', host: `127.0.0.1:${at.port}` },
    });
    expect(Object.keys(seen.headers)).not.toContain('x-hop');
  });

  it('may have a body of any size, which is never in memory as a whole', async () => {
    let bytes = 0;
    let largest = 0;
    answer = (asked, response) => {
      const before = keptBytes();
      asked.on('data', (chunk: Buffer) => {
        const [known, now] = [bytes, bytes + chunk.length];
        bytes = now;
        // Each look frees memory first, which takes a while.
        if (now >> 23 !== known >> 23) largest = Math.max(largest, keptBytes() - before);
      });
      asked.on('end', () => response.end('read'));
    };
    const sent = request({ ...at, method: 'POST', path: '/' });
    const chunk = Buffer.alloc(2 ** 20);
    const reply = responseOf(sent);
    for (let n = 0; n < 50; n++) if (!sent.write(chunk)) await once(sent, 'drain');
    sent.end();
    expect(await text(await reply)).toBe('read');
    expect(bytes).toBe(50 * 2 ** 20);
    expect(largest).toBeLessThan(32 * 2 ** 20);
  });

  it('is answered as the answer comes, and ends with its client', async () => {
    let ended = false;
    answer = (_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      response.write('data: 1\n\n');
      response.once('close', () => (ended = true));
    };
    const sent = request({ ...at, path: '/' }).end();
    const reply = await responseOf(sent);
    expect(String((await once(reply, 'data'))[0])).toBe('data: 1\n\n');
    expect(ended).toBe(false);
    sent.destroy();
    await until('the stream has ended there', () => ended);
    expect(cut).toEqual([]);
  });

  it('ends there when its client leaves before it is sent', async () => {
    let aborted = false;
    answer = (asked) => void asked.resume().once('close', () => (aborted = !asked.complete));
    const reached = once(owner, 'request');
    const sent = request({ ...at, method: 'POST', path: '/', headers: { 'content-length': 9 } });
    sent.on('error', () => {});
    sent.write('half');
    await reached;
    sent.destroy();
    await until('it has ended there', () => aborted);
  });

  it('may be answered before it was read', async () => {
    answer = (_asked, response) => response.writeHead(413).end('too large');
    // Each time, the answer and the end of its connection may come together.
    for (let time = 0; time < 20; time += 1) {
      const sent = request({ ...at, method: 'POST', path: '/' });
      sent.write(Buffer.alloc(2 ** 20));
      const reply = await responseOf(sent);
      expect([reply.statusCode, await text(reply)]).toEqual([413, 'too large']);
      sent.destroy();
    }
  });

  it('is unavailable when that server ends first, and breaks off when it ends later', async () => {
    answer = ({ socket }) => socket.destroy();
    const refused = await fetch(url('/'), { method: 'POST', body: 'x' });
    expect([refused.status, refused.headers.get('content-type')]).toEqual([503, problemType]);
    expect(await refused.json()).toMatchObject({
      code: 'unavailable',
      detail: expect.stringContaining('See what was done'),
    });
    answer = ({ socket }, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('begun');
      setImmediate(() => socket.destroy());
    };
    expect(cut).toEqual([]);
    await expect(fetch(url('/')).then((reply) => reply.text())).rejects.toThrow();
    expect(cut).toMatchObject([{ code: 'unavailable' }]);
    port.close();
    const gone = await fetch(url('/'));
    expect([gone.status, await gone.json()]).toMatchObject([503, { code: 'unavailable' }]);
  });

  it('may be an upgrade, accepted or not', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${at.port}/socket`, { origin: 'http://page' });
    await once(socket, 'open');
    socket.send('hello');
    expect(String((await once(socket, 'message'))[0])).toBe('http://page hello');
    socket.terminate();
    const raw = connect(at);
    const upgrade = ['connection: upgrade', 'upgrade: websocket', 'host: a'];
    raw.write(['GET /none HTTP/1.1', ...upgrade, '', ''].join('\r\n'));
    const refused = await text(raw);
    expect(refused).toMatch(/^HTTP\/1\.1 403 No\r\n/);
    expect(refused).toContain('x-why: so');
    port.close();
    const late = connect(at);
    late.write(['GET /none HTTP/1.1', ...upgrade, '', ''].join('\r\n'));
    expect(await text(late)).toMatch(/^HTTP\/1\.1 503[^]*"code":"unavailable"/);
  });
});
