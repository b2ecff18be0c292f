import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '@belay/testing';
import { WebSocket, WebSocketServer } from 'ws';
import { hostAndPort } from './host-and-port.js';
import { introducedCaller, isPassedOn } from './introduced-caller.js';
import { PeerAgent } from './peer-agent.js';
import type { PeerIntroduction } from './peer-introduction.js';
import { PeerPort } from './peer-port.js';

const asAlice: PeerIntroduction = {
  address: '10.0.0.1',
  kind: 'caller',
  caller: { id: 'user:alice', api: 'mcp' },
};
const relayed: PeerIntroduction = { address: '10.0.0.1', kind: 'request' };

/** Where Linux tells which timer of a connection runs: 02 is that of keep-alive. */
const connections = '/proc/self/net/tcp';
const hexOfPort = (port = 0): string => port.toString(16).toUpperCase().padStart(4, '0');

describe('attacks: a request that another server passes on', () => {
  let http: Server;
  let port: PeerPort;
  let here: { address: string; key: string };

  beforeEach(async () => {
    http = createServer(({ socket }, response) => {
      const { remoteAddress } = socket;
      const caller = introducedCaller(socket) ?? null;
      response.end(JSON.stringify({ remoteAddress, caller, isPassedOn: isPassedOn(socket) }));
    });
    const sockets = new WebSocketServer({ server: http });
    sockets.on('connection', (socket, { socket: raw }: IncomingMessage) =>
      socket.send(JSON.stringify(introducedCaller(raw))),
    );
    port = await PeerPort.open({ host: '127.0.0.1' }, '127.0.0.1:0');
    here = { address: port.address, key: port.key };
  });
  afterEach(() => {
    port.close();
    http.closeAllConnections();
    http.close();
  });

  async function ask(
    introduction: PeerIntroduction,
    headers: Record<string, string> = {},
  ): Promise<unknown> {
    const sent = request({ agent: new PeerAgent(here, introduction), path: '/', headers });
    const answered = once(sent.end(), 'response') as Promise<[IncomingMessage]>;
    return JSON.parse(await text((await answered)[0]));
  }
  const lineTo = async (line: string): Promise<string> => {
    const socket: Socket = connect(hostAndPort(port.address));
    socket.write(line);
    return text(socket);
  };

  it('has the caller that the other server names, at a server that works or leads', async () => {
    const seen = { remoteAddress: '10.0.0.1', caller: asAlice.caller, isPassedOn: true };
    port.work(http);
    expect(await ask(asAlice)).toEqual(seen);
    expect(await ask(relayed)).toEqual({ ...seen, caller: null });
    await once(http.listen(0, '127.0.0.1'), 'listening');
    port.serve(http);
    expect(await ask(asAlice)).toEqual(seen);
    expect(await ask({ address: '::1', kind: 'connection' })).toEqual({
      remoteAddress: '::1',
      caller: null,
      isPassedOn: false,
    });
  });

  it('may be a WebSocket', async () => {
    port.work(http);
    const socket = new WebSocket('ws://peer/', { agent: new PeerAgent(here, asAlice) });
    expect(JSON.parse(String((await once(socket, 'message'))[0]))).toEqual(asAlice.caller);
    socket.terminate();
  });

  it('is given up when its machine is gone before it asks', async () => {
    port.work(http);
    const socket = connect(hostAndPort(port.address));
    socket.write(`${port.key} 10.0.0.1 relayed\n`);
    await once(socket, 'data');
    const [here, there] = [socket.remotePort, socket.localPort].map(hexOfPort);
    const keepAlive = new RegExp(`:${here} \\w+:${there} 01 \\S+ 02:`);
    await until('it is watched', async () => keepAlive.test(await readFile(connections, 'utf8')));
    socket.destroy();
  });

  it('names no caller by its headers or its bytes', async () => {
    port.work(http);
    const caller = { 'x-belay-caller': 'owner', forwarded: 'for=owner', caller: 'owner rest' };
    expect(await ask(relayed, caller)).toMatchObject({ caller: null });
    expect(await ask(asAlice, caller)).toMatchObject({ caller: asAlice.caller });
    const socket = connect(hostAndPort(port.address));
    socket.write(`${port.key} 10.0.0.1 relayed\n`);
    await once(socket, 'data');
    socket.write(`${port.key} 10.0.0.1 caller owner rest\nGET / HTTP/1.1\r\nhost: a\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400/);
  });

  it.each([
    ['a wrong key', () => `wrong 10.0.0.1 caller owner rest\n`],
    ['no API', () => `${port.key} 10.0.0.1 caller owner\n`],
    ['an unknown API', () => `${port.key} 10.0.0.1 caller owner telnet\n`],
    ['no caller', () => `${port.key} 10.0.0.1 caller  rest\n`],
    ['a caller in two words', () => `${port.key} 10.0.0.1 caller token:a b rest\n`],
    ['a word too many', () => `${port.key} 10.0.0.1 relayed owner\n`],
    ['an unknown kind', () => `${port.key} 10.0.0.1 owner\n`],
    ['no address', () => `${port.key} caller owner rest\n`],
    ['two lines', () => `${port.key} 10.0.0.1 relayed\n${port.key} 10.0.0.1 caller owner rest\n`],
    ['a long caller', () => `${port.key} 10.0.0.1 caller ${'x'.repeat(200)} rest\n`],
    ['a caller beyond its limit', () => `${port.key} ::1 caller ${'x'.repeat(65)} rest\n`],
    ['other ends of a line', () => `${port.key} 10.0.0.1 relayed\r\n`],
  ])('is refused with %s', async (_what, line) => {
    port.work(http);
    expect(await lineTo(line())).toBe('');
  });

  it('is not a whole connection, which only the server that leads accepts', async () => {
    expect(await lineTo(`${port.key} 10.0.0.1 relayed\n`)).toBe('');
    port.work(http);
    expect(await lineTo(`${port.key} 10.0.0.1\n`)).toBe('');
    await expect(ask({ address: '10.0.0.1', kind: 'connection' })).rejects.toMatchObject({
      code: 'unavailable',
    });
    port.close();
    await expect(ask(relayed)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
