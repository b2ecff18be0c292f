import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '@belay/testing';
import { WebSocket, WebSocketServer } from 'ws';
import { ConnectionRelay } from './connection-relay.js';
import { hostAndPort } from './host-and-port.js';
import { PeerPort } from './peer-port.js';
import type { LeaseHolder } from './server-rows.js';

describe('a connection to a server that stands by', () => {
  let http: Server;
  let port: PeerPort;
  let relay: ConnectionRelay;
  let url: string;
  let holder: LeaseHolder | undefined;
  const seen: IncomingMessage[] = [];

  beforeEach(async () => {
    seen.length = 0;
    http = createServer((request, response) => {
      seen.push(request);
      const { remoteAddress } = request.socket;
      void text(request).then((body) => response.end(`${remoteAddress} ${body}`));
    });
    await once(http.listen(0, '127.0.0.1'), 'listening');
    const sockets = new WebSocketServer({ server: http });
    sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
    port = await PeerPort.open({ host: '127.0.0.1' }, '127.0.0.1:0');
    holder = { ...here(), key: port.key };
    relay = new ConnectionRelay(() => holder);
    await relay.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${relay.port}`;
  });
  afterEach(() => {
    relay.stop();
    relay.keepOnly(undefined);
    port.close();
    http.closeAllConnections();
    http.close();
  });

  const here = () => ({
    id: 'first',
    address: port.address,
    files: 'f',
    version: '1',
    key: '',
    isAlive: true,
  });
  const toPeerPort = (): Socket => connect(hostAndPort(port.address));
  const endOf = async (socket: Socket, line: string): Promise<string> => {
    socket.write(line);
    return text(socket);
  };

  it('reaches the one that serves, whole and in both directions, as that of its own client', async () => {
    port.serve(http);
    const body = 'x'.repeat(3_000_000);
    const answer = await fetch(url, { method: 'POST', body });
    expect(await answer.text()).toBe(`127.0.0.1 ${body}`);
    const socket = new WebSocket(url.replace('http', 'ws'));
    await once(socket, 'open');
    socket.send('over a WebSocket');
    expect(String((await once(socket, 'message'))[0])).toBe('over a WebSocket');
    socket.terminate();
  });

  it('waits for one that serves, and ends when another one does', async () => {
    let asked = 0;
    const known = holder;
    const waiting = new ConnectionRelay(() => (asked++, known));
    await waiting.listen(0, '127.0.0.1');
    const answer = fetch(`http://127.0.0.1:${waiting.port}`, { method: 'POST', body: 'patient' });
    await until('it looks again', () => asked > 1);
    port.serve(http);
    waiting.stop();
    expect(await (await answer).text()).toBe('127.0.0.1 patient');
    const socket = new WebSocket(url.replace('http', 'ws'));
    await once(socket, 'open');
    relay.keepOnly('second');
    await once(socket, 'close');
  });

  it('costs nothing when it was reset before it was accepted', async () => {
    port.serve(http);
    let asked = 0;
    const known = holder;
    const counting = new ConnectionRelay(() => (asked++, known));
    await counting.listen(0, '127.0.0.1');
    const at = `${counting.port}, '127.0.0.1'`;
    const reset = `const one = require('node:net').connect(${at}, () => one.resetAndDestroy())`;
    // While this process waits for the other one, it accepts nothing.
    execFileSync(process.execPath, ['-e', reset]);
    expect((await fetch(`http://127.0.0.1:${counting.port}`)).status).toBe(200);
    expect(asked).toBe(1);
    counting.stop();
    counting.keepOnly(undefined);
  });

  it('is ended in time when no server serves, whatever it sends', async () => {
    const refusing = new ConnectionRelay(() => undefined, undefined, { waitMs: 1, refusedMs: 300 });
    await refusing.listen(0, '127.0.0.1');
    const socket = connect({ port: refusing.port, host: '127.0.0.1', allowHalfOpen: true });
    const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
    const sending = setInterval(() => socket.write('x'), 50);
    let answer = '';
    socket.on('data', (bytes) => (answer += String(bytes)));
    await closed;
    clearInterval(sending);
    expect(answer).toContain('"code":"unavailable"');
    refusing.stop();
  });

  it('says what it is in time, or is ended, however slowly it does', async () => {
    const socket = connect(hostAndPort(port.address));
    const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
    const sending = setInterval(() => socket.write('x'), 100);
    await closed;
    clearInterval(sending);
    expect(socket.bytesWritten).toBeLessThan(100);
  });

  it('cannot be made to a server directly, without its key', async () => {
    port.serve(http);
    const request = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
    for (const line of [
      request,
      `wrong-key 10.0.0.1\n${request}`,
      `wrong-key 10.0.0.1\n`,
      `${port.key} elsewhere\n`,
      `${port.key} 10.0.0.1\n${request}`,
      `${'k'.repeat(300)}\n`,
    ])
      expect(await endOf(toPeerPort(), line)).toBe('');
    expect(seen).toEqual([]);
    const honest = toPeerPort();
    honest.write(`${port.key} 10.0.0.1\n`);
    expect(String((await once(honest, 'data'))[0])).toBe('ok\n');
    expect(await endOf(honest, request)).toContain('10.0.0.1');
  });

  it('cannot name another address than its own', async () => {
    port.serve(http);
    const answer = await endOf(connect(Number(new URL(url).port)), `${port.key} 10.0.0.1\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
    expect(seen).toEqual([]);
  });

  it('is refused by one that does not serve', async () => {
    expect(await endOf(toPeerPort(), `${port.key} 10.0.0.1\n`)).toBe('');
    port.serve(http);
    http.close();
    expect(await endOf(toPeerPort(), `${port.key} 10.0.0.1\n`)).toBe('');
  });
});
