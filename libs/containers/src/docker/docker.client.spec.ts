import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { labels } from './container-spec.js';
import { DockerClient } from './docker.client.js';
import { ImagePulls } from './image-pulls.js';

/** An engine that has these images, and knows of a registry with all others. */
class Engine {
  readonly images = new Set<string>();
  readonly requests: string[] = [];
  /** The labels of its volumes. */
  readonly volumes: Record<string, Record<string, string> | null> = {};
  /** What it says to requests that begin so, instead. */
  readonly refusals = new Map<string, [status: number, message: string]>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'belay-engine-'));
  readonly #server = createServer((request, response) => {
    void text(request).then((sent) => {
      const [status, body] = this.#answer(request, sent);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  readonly client = new DockerClient({ instance: 'test', dockerHost: `unix://${this.socket}` });

  async open(): Promise<void> {
    await once(this.#server.listen(this.socket), 'listening');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
    rmSync(this.#folder, { recursive: true });
  }

  get socket(): string {
    return join(this.#folder, 'docker.sock');
  }

  #answer({ method, url = '' }: IncomingMessage, body: string): [status: number, body: object] {
    const { pathname, searchParams } = new URL(url, 'http://engine');
    const path = pathname.replace(/^\/v[\d.]+/, '');
    this.requests.push(`${method} ${path}`);
    const refusal = this.refusals.get(`${method} ${path}`);
    if (refusal) return [refusal[0], { message: refusal[1] }];
    const missing = { message: 'No such image' };
    if (path === '/volumes') {
      const found = Object.entries(this.volumes);
      return [200, { Volumes: found.map(([Name, Labels]) => ({ Name, Labels })) }];
    }
    if (path === '/images/create') {
      this.images.add(`${searchParams.get('fromImage')}:${searchParams.get('tag')}`);
      return [200, { status: 'Downloaded' }];
    }
    if (path === '/containers/create') {
      const { Image } = JSON.parse(body) as { Image: string };
      return this.images.has(Image) ? [201, { Id: 'c' }] : [404, missing];
    }
    const name = path.replace(/^\/images\//, '').replace(/\/json$/, '');
    if (!this.images.has(name)) return [404, missing];
    if (method === 'DELETE') this.images.delete(name);
    return [200, method === 'DELETE' ? [] : { Id: `sha256:${name}` }];
  }
}

async function text(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

describe('the client of the engine', () => {
  const engine = new Engine();
  beforeAll(() => engine.open());
  afterAll(() => engine.close());
  afterEach(() => {
    engine.images.clear();
    engine.requests.splice(0);
    engine.refusals.clear();
  });

  it('fetches what is missing, and says whether it was', async () => {
    const fetched = [await engine.client.fetchImage('tool:1')];
    fetched.push(await engine.client.fetchImage('tool:1'));
    expect(fetched).toEqual([true, false]);
    expect(await engine.client.create({ Image: 'other:1' })).toBe('c');
  });

  it('pulls once what two want at once, and tells the first', async () => {
    const pulls = new ImagePulls(new Docker({ socketPath: engine.socket }), []);
    const began = await Promise.all([pulls.pull('tool:1'), pulls.pull('tool:1')]);
    expect([began, engine.requests]).toEqual([[true, false], ['POST /images/create']]);
  });

  it('pulls nothing when something else is missing', async () => {
    engine.images.add('tool:1');
    engine.refusals.set('POST /containers/create', [404, 'No such network']);
    const made = engine.client.create({ Image: 'tool:1' });
    await expect(made).rejects.toThrow('No such network');
    expect(engine.requests).not.toContain('POST /images/create');
  });

  it('takes the name from an image, unless a container needs it', async () => {
    engine.images.add('tool:1');
    engine.refusals.set('DELETE /images/tool:1', [409, 'conflict: container c is using it']);
    expect(await engine.client.untagImage('tool:1')).toBe(false);
    engine.refusals.clear();
    expect(await engine.client.untagImage('tool:1')).toBe(true);
    expect(await engine.client.untagImage('tool:1')).toBe(true);
    expect(await engine.client.imageId('tool:1')).toBeUndefined();
  });

  it('finds volumes except for those of other servers that are alive', async () => {
    const of = (server: string) => ({ [labels.server]: server });
    Object.assign(engine.volumes, { a: of('one'), b: of('two'), c: null });
    const others = async () => new Set(['two']);
    expect(await engine.client.volumes('own')).toEqual(['a', 'b', 'c']);
    expect(await engine.client.volumes('own', others)).toEqual(['a', 'c']);
  });

  it('asks for no image by what cannot be the name of one', async () => {
    for (const name of ['', 'a b', 'a/../../info', 'a?b', '%2e%2e'])
      expect(await engine.client.imageId(name)).toBeUndefined();
    expect(engine.requests).toEqual([]);
    engine.refusals.set('GET /images/UPPER/json', [400, 'invalid reference format']);
    expect(await engine.client.imageId('UPPER')).toBeUndefined();
  });
});
