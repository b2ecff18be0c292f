import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { outgoingFetch } from './outgoing-fetch.js';
import { ProviderServer, failedResponse } from '../models/testing/provider-server.js';

describe('going out', () => {
  it('takes the host’s proxy, but for the hosts that it excludes', async () => {
    const server = await ProviderServer.open();
    const asked: string[] = [];
    const proxy = createServer();
    const tunnels = new Set<Duplex>();
    proxy.on('connect', (request, socket: Duplex) => {
      asked.push(request.url ?? '');
      tunnels.add(socket);
      const outside = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(outside).pipe(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const fetch = outgoingFetch({
      HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      no_proxy: '127.0.0.1',
    });
    server.answer(failedResponse(200, 'inside'), failedResponse(200, 'outside'));
    expect(await (await fetch(server.url, {})).text()).toBe('inside');
    expect(asked).toEqual([]);
    expect(await (await fetch('http://model.test/v1', {})).text()).toBe('outside');
    expect(asked).toEqual(['model.test:80']);
    for (const socket of tunnels) socket.destroy();
    await new Promise((resolve) => proxy.close(resolve));
    await server.close();
  });
});
