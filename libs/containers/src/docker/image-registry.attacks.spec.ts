import { createServer, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DockerClient } from './docker.client.js';
import { registryHostOf } from './image-registry.js';

/** An engine that has no image, and is asked to pull one. */
class EmptyEngine {
  readonly pulled: string[] = [];
  answer = '{"status":"Pulling"}\n';
  #server!: Server;
  folder!: string;

  async start(): Promise<DockerClient> {
    this.folder = await mkdtemp(join(tmpdir(), 'belay-engine-'));
    const socket = join(this.folder, 'engine.sock');
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://engine');
      if (!url.pathname.endsWith('/images/create')) {
        response.writeHead(404, { 'content-type': 'application/json' });
        return response.end('{"message":"No such image"}');
      }
      this.pulled.push(url.searchParams.get('fromImage') ?? '');
      return response.end(this.answer);
    });
    await new Promise<void>((done) => this.#server.listen(socket, done));
    const trusted = ['127.0.0.1:5000/own/image:1'];
    return new DockerClient({ instance: 'i', dockerHost: `unix://${socket}`, trusted });
  }

  async close(): Promise<void> {
    await new Promise((done) => this.#server.close(done));
    await rm(this.folder, { recursive: true });
  }
}

describe('attacks: the registry of an image', () => {
  const engine = new EmptyEngine();
  let docker: DockerClient;
  beforeAll(async () => {
    docker = await engine.start();
  });
  afterAll(() => engine.close());
  beforeEach(() => {
    engine.pulled.length = 0;
  });
  const create = (Image: string) => docker.create({ Image });

  it.each([
    '127.0.0.1:47953/a/b:latest',
    'localhost:5000/a',
    'LOCALHOST/a',
    'sub.localhost:80/a',
    '0x7f.1/a',
    '127.1:80/a',
    '2130706433:80/a',
    '[::1]:5000/a',
    '[::ffff:7f00:1]:5000/a',
    '10.0.0.7/a',
    '192.168.1.1:5000/team/a@sha256:0123456789abcdef0123456789abcdef',
    '169.254.169.254/latest/meta-data',
    '0.0.0.0:80/a',
  ])('%s is refused before the engine is asked', async (image) => {
    await expect(create(image)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('in a private or reserved network'),
    });
    expect(engine.pulled).toEqual([]);
  });

  it.each(['8.8.8.8/a/b', 'node', 'library/node', '127/a'])('%s is pulled', async (image) => {
    // The engine of this test has it after the pull no more than before.
    await expect(create(image)).rejects.toMatchObject({ code: 'unavailable' });
    expect(engine.pulled).toEqual([expect.stringContaining(image)]);
  });

  it('of the user of this machine may be anywhere', async () => {
    await expect(create('127.0.0.1:5000/own/image:1')).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(engine.pulled).toHaveLength(1);
  });

  it.each([
    [`invalid character 'A' looking for beginning of value`, /did not answer like one/],
    ['received unexpected HTTP status: 500 Internal Server Error', /did not answer like one/],
    ['dial tcp 10.0.0.1:1: connect: connection refused', /did not answer like one/],
    ['lookup internal.corp on 10.0.0.2:53: no such host', /did not answer like one/],
    ['manifest for node:none not found: manifest unknown', /no such image there/],
    ['pull access denied for a, repository does not exist', /no such image there/],
    ['toomanyrequests: You have reached your pull rate limit', /too many requests/],
    ['no matching manifest for linux/arm64/v8', /not for this machine’s processor/],
  ])('says nothing of what it answers: %s', async (error, sentence) => {
    engine.answer = `${JSON.stringify({ error, errorDetail: { message: error } })}\n`;
    const failure = await create('8.8.8.8/a').catch((failed: Error) => failed.message);
    expect(failure).toMatch(sentence);
    expect(failure).not.toContain(error);
  });

  it('is read as Docker reads it', () => {
    expect(registryHostOf('ghcr.io/owner/name:1')).toBe('ghcr.io');
    expect(registryHostOf('owner/name')).toBeUndefined();
    expect(registryHostOf('name:1.2')).toBeUndefined();
    expect(registryHostOf('Registry:443/a')).toBe('registry');
  });
});
