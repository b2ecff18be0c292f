import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectSecurely } from 'node:tls';
import { until } from '@belay/testing';
import type { DialIn } from '../container-host.js';
import { certify, newAuthority, type CertifiedKey } from './agent-authority.js';
import { AgentPort, hashOfToken } from './agent-port.js';

const host = '127.0.0.1';

describe('attacks: the port for agents', () => {
  let authority: CertifiedKey;
  let port: AgentPort;
  const connectFrom = (localAddress: string) => connect({ host, port: port.port, localAddress });
  /** Of a client that trusts this authority alone. */
  async function secured(from = host, ca = authority.certificate): Promise<Socket> {
    const socket = connectSecurely({ socket: connectFrom(from), host, ca });
    await once(socket, 'secureConnect');
    return socket.on('error', () => {});
  }
  /** As a container does; `from` is an address of loopback, of which each container has another one. */
  async function dial(token: string, from?: string): Promise<Socket> {
    const socket = await secured(from);
    socket.write(
      `GET /agent HTTP/1.1\r\nhost: agent\r\nconnection: Upgrade\r\nupgrade: websocket\r\nauthorization: Bearer ${token}\r\n\r\n`,
    );
    return socket;
  }
  let dials: [string, DialIn][];
  const dialled = (id: string) => until(`${id} dials`, () => dials.find(([of]) => of === id));
  beforeAll(async () => {
    authority = await newAuthority();
  });
  beforeEach(async () => {
    dials = [];
    port = await AgentPort.open({ host, port: 0 }, await certify(authority, host));
    port.onDial((id, one) => dials.push([id, one]));
  });
  afterEach(() => port.close());

  it('knows a container by its token alone, and none by another one', async () => {
    port.admit('one', hashOfToken('secret'));
    for (const wrong of ['', 'secre', 'secret2', hashOfToken('secret')]) {
      const refused = await dial(wrong);
      expect(await text(refused)).toContain('503');
    }
    expect(dials).toEqual([]);
    await dial('secret');
    expect((await dialled('one'))[0]).toBe('one');
  });

  it('ends the connections of a container that is removed, and not those of others', async () => {
    port.admit('one', hashOfToken('a'));
    port.admit('two', hashOfToken('b'));
    const [first, second] = [await dial('a'), await dial('b')];
    await Promise.all([dialled('one'), dialled('two')]);
    port.remove('one');
    await once(first, 'close');
    expect(second.destroyed).toBe(false);
    expect(await text(await dial('a'))).toContain('503');
  });

  it('admits a container while another one floods the port with connections', async () => {
    port.admit('one', hashOfToken('secret'));
    const flood = Array.from({ length: 200 }, () => connectFrom('127.0.0.2'));
    const ends = flood.map((socket) => {
      socket.on('error', () => {});
      return once(socket, 'close').catch(() => {});
    });
    await dial('secret', '127.0.0.3');
    expect((await dialled('one'))[0]).toBe('one');
    // Beyond what may wait from one address, the flood itself is dropped.
    await Promise.race(ends);
    expect(flood.filter(({ destroyed }) => destroyed).length).toBeGreaterThan(0);
    for (const socket of flood) socket.destroy();
  });

  it('serves nothing but agents', async () => {
    const socket = await secured();
    socket.write('GET /api/sessions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer secret\r\n\r\n');
    expect(await text(socket)).toContain('426');
  });

  it('is trusted by those who know its authority, and by nobody else', async () => {
    const other = await newAuthority();
    await expect(secured(host, other.certificate)).rejects.toThrow(/certificate/);
    const elsewhere = await certify(authority, '192.0.2.1');
    const pretender = await AgentPort.open({ host, port: 0 }, elsewhere);
    const real = port;
    port = pretender;
    await expect(secured()).rejects.toThrow(/altnames/);
    await pretender.close();
    port = real;
    (await secured()).destroy();
  });

  it('serves nobody who does not encrypt', async () => {
    port.admit('one', hashOfToken('secret'));
    const plain = connectFrom(host);
    plain.write('GET /agent HTTP/1.1\r\nhost: x\r\nauthorization: Bearer secret\r\n\r\n');
    plain.on('error', () => {});
    await once(plain, 'close');
    expect(dials).toEqual([]);
    await dial('secret');
    expect((await dialled('one'))[0]).toBe('one');
  });
});
