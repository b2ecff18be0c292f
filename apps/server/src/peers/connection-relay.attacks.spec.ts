import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '@belay/testing';
import { WebSocket, WebSocketServer } from 'ws';
import { RelayedServer } from '../testing/relayed-server.js';
import { ConnectionRelay } from './connection-relay.js';
import { hostAndPort } from './host-and-port.js';

describe('a connection to a server that stands by', () => {
  const server = new RelayedServer();
  const seen: IncomingMessage[] = [];

  beforeEach(async () => {
    seen.length = 0;
    await server.open((request, response) => {
      seen.push(request);
      const { remoteAddress } = request.socket;
      void text(request).then((body) => response.end(`${remoteAddress} ${body}`));
    });
    const sockets = new WebSocketServer({ server: server.http });
    sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
  });
  afterEach(() => server.close());

  const toPeerPort = (): Socket => connect(hostAndPort(server.port.address));
  const endOf = async (socket: Socket, line: string): Promise<string> => {
    socket.write(line);
    return text(socket);
  };

  it('reaches the one that serves, whole and in both directions, as that of its own client', async () => {
    server.serve();
    const body = 'x'.repeat(3_000_000);
    const answer = await fetch(server.url, { method: 'POST', body });
    expect(await answer.text()).toBe(`127.0.0.1 ${body}`);
    const socket = new WebSocket(server.url.replace('http', 'ws'));
    await once(socket, 'open');
    socket.send('over a WebSocket');
    expect(String((await once(socket, 'message'))[0])).toBe('over a WebSocket');
    socket.terminate();
  });

  it('waits for one that serves, and ends when another one does', async () => {
    let asked = 0;
    const known = server.holder;
    const waiting = new ConnectionRelay(() => (asked++, known));
    await waiting.listen(0, '127.0.0.1');
    const answer = fetch(`http://127.0.0.1:${waiting.port}`, { method: 'POST', body: 'patient' });
    await until('it looks again', () => asked > 1);
    server.serve();
    waiting.stop();
    expect(await (await answer).text()).toBe('127.0.0.1 patient');
    const socket = new WebSocket(server.url.replace('http', 'ws'));
    await once(socket, 'open');
    server.relay.keepOnly('second');
    await once(socket, 'close');
  });

  it('costs nothing when it was reset before it was accepted', async () => {
    server.serve();
    let asked = 0;
    const known = server.holder;
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
    const socket = connect(hostAndPort(server.port.address));
    const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
    const sending = setInterval(() => socket.write('x'), 100);
    await closed;
    clearInterval(sending);
    expect(socket.bytesWritten).toBeLessThan(100);
  });

  it('cannot be made to a server directly, without its key', async () => {
    server.serve();
    const request = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
    for (const line of [
      request,
      `wrong-key 10.0.0.1\n${request}`,
      `wrong-key 10.0.0.1\n`,
      `${server.port.key} elsewhere\n`,
      `${server.port.key} 10.0.0.1\n${request}`,
      `${'k'.repeat(300)}\n`,
    ])
      expect(await endOf(toPeerPort(), line)).toBe('');
    expect(seen).toEqual([]);
    const honest = toPeerPort();
    honest.write(`${server.port.key} 10.0.0.1\n`);
    expect(String((await once(honest, 'data'))[0])).toBe('ok\n');
    expect(await endOf(honest, request)).toContain('10.0.0.1');
  });

  it('cannot name another address than its own', async () => {
    server.serve();
    const answer = await endOf(
      connect(Number(new URL(server.url).port)),
      `${server.port.key} 10.0.0.1\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
    expect(seen).toEqual([]);
  });

  it('is refused by one that does not serve', async () => {
    expect(await endOf(toPeerPort(), `${server.port.key} 10.0.0.1\n`)).toBe('');
    server.serve();
    server.http.close();
    expect(await endOf(toPeerPort(), `${server.port.key} 10.0.0.1\n`)).toBe('');
  });
});
