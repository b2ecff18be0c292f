import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { S3Config } from '../s3-config.js';
import type { S3Objects } from './s3-objects.js';
import { objectStoreCases } from './testing/object-store-cases.js';
import { TestBucket } from './testing/test-bucket.js';

/** A cut after this many bytes is in the middle of a content, behind its headers. */
const cutAfter = 200_000;

describe('objects in a bucket', () => {
  const bucket = new TestBucket();
  const { folder } = bucket;
  afterAll(() => bucket.close());
  const fresh = () => bucket.fresh();
  const open = (config?: S3Config) => bucket.open(config);

  const read = async (objects: S3Objects, key: string) => {
    const found = await objects.open(key);
    return found && String(await buffer(found.content));
  };

  afterEach(() => rmSync(join(folder, 'spool'), { recursive: true, force: true }));

  objectStoreCases(open);

  it('are below their prefix alone', async () => {
    const config = fresh();
    const [one, other] = [
      await open(config),
      await open({ ...config, prefix: `${config.prefix}/x` }),
    ];
    await one.put('a/b', Buffer.from('of one'));
    expect(await other.find('a/b')).toBeUndefined();
    expect(await read(await open(config), 'a/b')).toBe('of one');
  });

  it('are listed and removed when they are more than fit into one response', async () => {
    const objects = await open();
    const names = Array.from({ length: 1_050 }, (_, at) => `many/${at}`);
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(names.slice(at, at + 50).map((key) => objects.put(key, Buffer.from('x'))));
    const found: string[] = [];
    for await (const { key } of objects.list('many')) found.push(key);
    expect(found.toSorted()).toEqual(names.toSorted());
    await objects.removeFolder('many');
    for await (const { key } of objects.list('many')) throw new Error(`${key} is still there.`);
  });

  it('leave nothing on this machine, also when an earlier server was killed', async () => {
    const spool = join(folder, 'spool');
    mkdirSync(spool, { recursive: true });
    writeFileSync(join(spool, 'left'), 'half');
    const objects = await open();
    await objects.beforeLead(true);
    expect(readdirSync(spool)).toEqual(['left']);
    await objects.beforeLead(false);
    expect(existsSync(spool)).toBe(false);
    await objects.put('a', Readable.from(['b']));
    expect(readdirSync(spool)).toEqual([]);
  });

  describe('at the start', () => {
    it.each([
      [{ bucket: `none-${randomUUID()}` }, /^There is no bucket none-\S+: create it, or change/],
      [
        {
          credentials: {
            accessKeyId: fresh().credentials?.accessKeyId ?? '',
            secretAccessKey: 'x',
          },
        },
        /does not admit this server \(\w+\): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a key/,
      ],
      [
        { credentials: { accessKeyId: 'nobody', secretAccessKey: 'x' } },
        /does not admit this server|No user exists with/,
      ],
      [{ endpoint: 'http://127.0.0.1:1' }, /cannot be used \(.*ECONNREFUSED.*AWS_ENDPOINT_URL_S3/],
    ])('%j is refused with a sentence', async (wrong, sentence) => {
      await expect(open({ ...fresh(), ...wrong })).rejects.toThrow(sentence);
      expect(existsSync(join(folder, 'spool'))).toBe(false);
    });
  });

  describe('behind a connection that breaks', () => {
    let proxy: CuttingProxy;
    beforeEach(async () => void (proxy = await CuttingProxy.start(endpointOf(fresh().endpoint))));
    afterEach(() => proxy.close());

    it('are not there half, and the earlier one stays', async () => {
      const config = fresh();
      const direct = await open(config);
      const objects = await open({ ...config, endpoint: proxy.url });
      await direct.put('a/kept', Buffer.from('before'));
      proxy.cut = 'requests';
      const large = Buffer.alloc(5_000_000, 'x');
      for (const content of [large, Readable.from([large])]) {
        for (const key of ['a/kept', 'a/new'])
          await expect(
            objects.put(key, Buffer.isBuffer(content) ? content : Readable.from([large])),
          ).rejects.toMatchObject({ code: 'unavailable' });
      }
      expect(proxy.cuts).toBeGreaterThan(0);
      expect(await direct.find('a/new')).toBeUndefined();
      expect(await read(direct, 'a/kept')).toBe('before');
      expect(readdirSync(join(folder, 'spool'))).toEqual([]);
      proxy.cut = undefined;
      await objects.put('a/new', large);
      expect(await direct.find('a/new')).toMatchObject({ bytes: large.length });
    });

    it('are not read half', async () => {
      const config = fresh();
      const objects = await open({ ...config, endpoint: proxy.url });
      const large = Buffer.alloc(5_000_000, 'x');
      await objects.put('a', large);
      proxy.cut = 'responses';
      await expect(read(objects, 'a')).rejects.toThrow();
      proxy.cut = undefined;
      expect(await read(objects, 'a')).toBe(String(large));
    });
  });
});

const endpointOf = (endpoint = ''): URL => new URL(endpoint);

/** Passes connections on, and cuts those that carry much in one direction. */
class CuttingProxy {
  cut: 'requests' | 'responses' | undefined;
  cuts = 0;
  readonly #server: Server;

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      const server = connect(Number(target.port), target.hostname);
      const passed = { requests: 0, responses: 0 };
      const count = (direction: keyof typeof passed, bytes: number) => {
        passed[direction] += bytes;
        if (this.cut !== direction || passed[direction] < cutAfter) return;
        this.cuts += 1;
        client.resetAndDestroy();
        server.resetAndDestroy();
      };
      client.on('data', (chunk) => count('requests', chunk.length));
      server.on('data', (chunk) => count('responses', chunk.length));
      for (const socket of [client, server]) socket.on('error', () => undefined);
      client.pipe(server).pipe(client);
    });
  }

  static async start(target: URL): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    await new Promise<void>((done) => proxy.#server.listen(0, '127.0.0.1', done));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    await new Promise((done) => this.#server.close(done));
  }
}
