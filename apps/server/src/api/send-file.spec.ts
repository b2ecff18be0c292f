import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@belay/testing';
import { sendFile } from './send-file.js';

describe('a file that is sent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-send-file-'));
  const path = join(folder, 'large');
  const server = createServer((request, response) => {
    sendFile(request.url === '/' ? path : join(folder, 'missing'), response);
  });
  beforeAll(async () => {
    // More than the buffers of both ends of a connection hold.
    writeFileSync(path, Buffer.alloc(32 * 1024 * 1024));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    rmSync(folder, { recursive: true });
  });

  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const timesOpen = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === path;
      } catch {
        return false;
      }
    }).length;

  it('is closed when the client leaves before its end', async () => {
    for (let times = 0; times < 3; times += 1) {
      const [response] = (await once(get(`${address()}/`), 'response')) as [IncomingMessage];
      await once(response, 'readable');
      expect(timesOpen()).toBe(1);
      response.destroy();
      await eventually(() => expect(timesOpen()).toBe(0));
    }
  });

  it('that is missing closes the connection', async () => {
    await expect(once(get(`${address()}/missing`), 'response')).rejects.toThrow('socket hang up');
  });
});
