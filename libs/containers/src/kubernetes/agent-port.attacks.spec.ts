import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '@belay/testing';
import type { DialIn } from '../container-host.js';
import { AgentPort, hashOfToken } from './agent-port.js';

/** As a container does; `from` is an address of loopback, of which each container has another one. */
async function dial(port: number, token: string, from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, localAddress: from });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    `GET /agent HTTP/1.1\r\nhost: agent\r\nconnection: Upgrade\r\nupgrade: websocket\r\nauthorization: Bearer ${token}\r\n\r\n`,
  );
  return socket;
}

describe('attacks: the port for agents', () => {
  let port: AgentPort;
  let dials: [string, DialIn][];
  const dialled = (id: string) => until(`${id} dials`, () => dials.find(([of]) => of === id));
  beforeEach(async () => {
    dials = [];
    port = await AgentPort.open({ host: '127.0.0.1', port: 0 });
    port.onDial((id, one) => dials.push([id, one]));
  });
  afterEach(() => port.close());

  it('knows a container by its token alone, and none by another one', async () => {
    port.admit('one', hashOfToken('secret'));
    for (const wrong of ['', 'secre', 'secret2', hashOfToken('secret')]) {
      const refused = await dial(port.port, wrong);
      expect(await text(refused)).toContain('503');
    }
    expect(dials).toEqual([]);
    await dial(port.port, 'secret');
    expect((await dialled('one'))[0]).toBe('one');
  });

  it('ends the connections of a container that is removed, and not those of others', async () => {
    port.admit('one', hashOfToken('a'));
    port.admit('two', hashOfToken('b'));
    const [first, second] = [await dial(port.port, 'a'), await dial(port.port, 'b')];
    await Promise.all([dialled('one'), dialled('two')]);
    port.remove('one');
    await once(first, 'close');
    expect(second.destroyed).toBe(false);
    expect(await text(await dial(port.port, 'a'))).toContain('503');
  });

  it('admits a container while another one floods the port with connections', async () => {
    port.admit('one', hashOfToken('secret'));
    const flood = Array.from({ length: 200 }, () =>
      connect({ host: '127.0.0.1', port: port.port, localAddress: '127.0.0.2' }),
    );
    const ends = flood.map((socket) => {
      socket.on('error', () => {});
      return once(socket, 'close').catch(() => {});
    });
    await dial(port.port, 'secret', '127.0.0.3');
    expect((await dialled('one'))[0]).toBe('one');
    // Beyond what may wait from one address, the flood itself is dropped.
    await Promise.race(ends);
    expect(flood.filter(({ destroyed }) => destroyed).length).toBeGreaterThan(0);
    for (const socket of flood) socket.destroy();
  });

  it('serves nothing but agents', async () => {
    const socket = connect({ host: '127.0.0.1', port: port.port });
    socket.write('GET /api/sessions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer secret\r\n\r\n');
    expect(await text(socket)).toContain('426');
  });
});
