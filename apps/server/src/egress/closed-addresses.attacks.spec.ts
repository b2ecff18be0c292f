import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Resolver } from './resolver.js';
import { EgressBench } from '../testing/egress-bench.js';

/** Loopback, private, link-local, metadata, special and embedded addresses, in the spellings that clients take. */
const closed = `
  127.0.0.1 127.0.0.2 127.1 127.0.1 0x7f.1 0x7f000001 0x7f.0.0.1 2130706433 017700000001 0177.0.0.1 127.0.0.1.
  127.255.255.254 localhost LOCALHOST localhost. x.localhost 0 0.0.0.0 0.0.0.1 00000000
  10.0.0.1 10.255.255.255 0xa.1 167772161 012.0.0.1 172.16.0.1 172.31.255.254 0xac.16.1 2886729729
  192.168.0.1 192.168.255.254 0xc0a80001 3232235521 100.64.0.1 100.127.255.254 100.100.100.200
  169.254.0.1 169.254.169.254 0xa9fea9fe 2852039166 169.254.170.2 168.63.129.16 192.0.0.192
  192.88.99.1 198.18.0.1 198.19.255.254 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
  :: ::1 [::1] 0:0:0:0:0:0:0:1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
  64:ff9b::7f00:1 64:ff9b::169.254.169.254 64:ff9b:1::1 100::1 2001::1 2002:7f00:1:: 2002:a9fe:a9fe::
  fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1
`
  .trim()
  .split(/\s+/);

describe('attacks: addresses that no sandbox reaches', () => {
  const bench = new EgressBench();
  let port: number;
  let reached = 0;
  beforeAll(async () => {
    port = await bench.listen(
      createServer((socket) => {
        reached += 1;
        socket.end('inside');
      }),
    );
    await bench.open({ profile: 'open' }, [`http://registry.test:${port}/`], {
      resolver: new Resolver(),
    });
  });
  afterAll(() => bench.close());

  it('are at least the 69 that were tried', () => {
    expect(new Set(closed).size).toBeGreaterThanOrEqual(69);
  });

  it.each(closed)('refuses %s, though the profile is open', async (host) => {
    await expect(bench.connect(host, port)).rejects.toMatchObject({
      code: expect.stringMatching(/rejected|unavailable/) as string,
    });
    expect(reached).toBe(0);
  });

  it('refuses this machine’s own addresses', async () => {
    const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    for (const { address } of own)
      await expect(bench.connect(address, port)).rejects.toMatchObject({ code: 'rejected' });
    expect(reached).toBe(0);
  });
});

describe('attacks: a name that means a closed address', () => {
  const bench = new EgressBench();
  let port: number;
  let answers: string[] = [];
  let reached = 0;
  beforeAll(async () => {
    port = await bench.listen(
      createServer((socket) => {
        reached += 1;
        socket.on('error', () => undefined).end('inside');
      }),
    );
    const resolver = { addresses: () => Promise.resolve(answers) };
    await bench.open({ profile: 'open' }, [`http://registry.test:${port}/`], { resolver });
  });
  afterAll(() => bench.close());

  it('is refused, and the host’s own registry at the same address is not', async () => {
    answers = ['127.0.0.1'];
    for (const name of ['rebound.test', 'registry.test.evil.test', 'xregistry.test'])
      await expect(bench.connect(name, port)).rejects.toMatchObject({ code: 'rejected' });
    await expect(bench.connect('registry.test', port + 1)).rejects.toMatchObject({
      code: 'rejected',
    });
    expect(reached).toBe(0);
    const stream = await bench.connect('registry.test', port);
    expect(String(await new Promise((resolve) => stream.once('data', resolve)))).toBe('inside');
    expect(reached).toBe(1);
  });
});

describe('attacks: networks of a cluster with public addresses', () => {
  const bench = new EgressBench();
  const names: Record<string, string[]> = {
    'api.cluster.test': ['203.0.113.10'],
    'rebound.test': ['2001:db8:7::1', '203.0.113.10'],
    'public.test': ['198.51.100.1'],
  };
  /** What the host’s proxy was asked for, so that public addresses need not be there. */
  const dialled: string[] = [];
  beforeAll(async () => {
    const proxy = createHttpServer();
    proxy.on('connect', ({ url = '' }, socket) => {
      dialled.push(url);
      socket.end('HTTP/1.1 200 OK\r\n\r\n');
    });
    const env = {
      BELAY_CLOSED_NETWORKS: '203.0.113.0/24, 2001:db8:7::/48',
      // As in a pod.
      KUBERNETES_SERVICE_HOST: '198.51.100.9',
      HTTPS_PROXY: `http://127.0.0.1:${await bench.listen(proxy)}`,
    };
    const resolver = { addresses: async (host: string) => names[host] ?? [host] };
    await bench.open({ profile: 'open' }, [], { resolver, env });
  });
  afterEach(() => void (dialled.length = 0));
  afterAll(() => bench.close());

  const refused =
    '203.0.113.0 203.0.113.10 203.0.113.255 0xcb.0.0x71.10 3405803786 ::ffff:203.0.113.10 ::ffff:cb00:710a ' +
    '64:ff9b::203.0.113.10 2002:cb00:710a:: 2001:db8:7::1 2001:DB8:7:ffff::1 [2001:db8:7::1] 198.51.100.9 ' +
    'api.cluster.test rebound.test';
  it.each(refused.split(' '))('refuses %s, though the profile is open', async (host) => {
    await expect(bench.connect(host, 6443)).rejects.toMatchObject({ code: 'rejected' });
    expect(dialled).toEqual([]);
  });

  it('lets public addresses beside them pass', async () => {
    const open = ['198.51.100.1', '203.0.112.255', '[2001:db8:8::1]', 'public.test'];
    for (const host of open) await bench.connect(host, 443);
    expect(dialled).toEqual(open.map((host) => `${host}:443`));
  });
});
