import crypto from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { freePort } from './free-port.js';

describe('a free port', () => {
  it('is none that this machine gives to outgoing connections', async () => {
    const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
    const [first] = range.trim().split(/\s+/).map(Number);
    for (let times = 0; times < 20; times += 1) expect(await freePort()).toBeLessThan(first ?? 0);
  });

  it('is given once, although nothing listens on it yet', async () => {
    const first = await freePort();
    const random = jest.spyOn(crypto, 'randomInt').mockReturnValueOnce(first as never);
    expect(await freePort()).not.toBe(first);
    expect(random.mock.calls.length).toBeGreaterThan(1);
    random.mockRestore();
  });

  it('can be listened on at once', async () => {
    const server = createServer().listen(await freePort(), '127.0.0.1');
    await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
    await new Promise((closed) => server.close(closed));
  });
});
