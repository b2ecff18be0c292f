import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { canReach } from './can-reach.js';

/** Of this file alone: another program may listen on the port that was closed here, but not at this address. */
const host = '127.43.0.1';

describe('reaching an address', () => {
  it('is seen where somebody accepts connections, and not where nobody does', async () => {
    const server = createServer((socket) => socket.end());
    server.listen({ host, port: 0 });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await canReach({ host, port }, 20_000)).toBe(true);
    server.close();
    await once(server, 'close');
    expect(await canReach({ host, port }, 20_000)).toBe(false);
  });

  it('is seen where a name server answers, and not where none does', async () => {
    const server = createSocket('udp4', (_, { port, address }) => server.send('ok', port, address));
    const silent = createSocket('udp4');
    for (const socket of [server, silent]) {
      socket.bind({ address: host, port: 0 });
      await once(socket, 'listening');
    }
    const portOf = (socket: typeof server) => socket.address().port;
    expect(await canReach({ host, port: portOf(server), udp: true }, 20_000)).toBe(true);
    expect(await canReach({ host, port: portOf(silent), udp: true }, 50)).toBe(false);
    for (const socket of [server, silent]) socket.close();
  });
});
