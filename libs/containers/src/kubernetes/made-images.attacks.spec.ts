import { once } from 'node:events';
import { request } from 'node:https';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { zstdDecompressSync } from 'node:zlib';
import { until } from '@belay/testing';
import type { IncomingMessage } from 'node:http';
import { certify, newAuthority, type CertifiedKey } from './agent-authority.js';
import { AgentPort, hashOfToken } from './agent-port.js';
import { LayerExchange } from './layer-exchange.js';
import { MadeImages } from './made-images.js';
import { podImagesOf } from './pod-images.js';
import { MemoryImageFiles } from './testing/memory-image-files.js';

const host = '127.0.0.1';
const of = {
  name: 'action:1',
  base: 'debian:12',
  mb: 1,
  entrypoint: ['/usr/bin/env'],
  user: '1:1',
};

describe('images that are made of a layer', () => {
  let files: MemoryImageFiles;
  let made: MadeImages;
  beforeEach(() => {
    files = new MemoryImageFiles();
    made = new MadeImages(files);
  });
  const keep = (id: string) => made.keepLayer(id, Readable.from([Buffer.from(`layer of ${id}`)]));

  it('are known by their names until they are removed, also those that were not finished', async () => {
    await keep('one');
    const image = await made.make('one', of);
    await keep('unfinished');
    expect(await made.named('action:1')).toBe(image);
    expect(await made.named('action:2')).toBeUndefined();
    expect(await made.find(image)).toEqual(of);
    expect(await made.find('debian:12')).toBeUndefined();
    expect(await made.all()).toHaveLength(2);
    for (const one of await made.all()) await made.remove(one);
    expect(await made.all()).toEqual([]);
    await expect(made.find(image)).rejects.toThrow('not there any more');
  });

  it('are none of a container that has sent nothing', async () => {
    await expect(made.make('one', of)).rejects.toThrow('were not kept');
    expect(await made.all()).toEqual([]);
  });

  it('are unpacked over their base, each once for a pod, and what is placed over them after it', async () => {
    await keep('one');
    const image = await made.make('one', of);
    const service = (name: string, from: string) => ({
      name,
      image: from,
      command: undefined,
      env: {},
      limits: { memoryMb: 64, cpus: 1 },
    });
    const services = [service('own', image), service('db', 'postgres:1')];
    const archive = Buffer.from('archive');
    const {
      first,
      services: others,
      layers,
    } = await podImagesOf({ image, services, archive }, made);
    expect(first).toMatchObject({ base: 'debian:12', layers: { places: [0, 1], mb: 2 } });
    expect(others).toMatchObject([
      { base: 'debian:12', layers: { places: [0], mb: 1, user: '1:1' } },
      { base: 'postgres:1', layers: null },
    ]);
    const contents = await Promise.all(layers.map(async (open) => buffer(await open())));
    expect(contents[0]?.toString()).toBe('layer of one');
    expect(zstdDecompressSync(contents[1] ?? '').toString()).toBe('archive');
  });
});

describe('attacks: the layers of images', () => {
  let authority: CertifiedKey;
  let port: AgentPort;
  let made: MadeImages;
  let exchange: LayerExchange;
  const mebibyte = Buffer.alloc(2 ** 20);

  beforeAll(async () => {
    authority = await newAuthority();
  });
  beforeEach(async () => {
    port = await AgentPort.open({ host, port: 0 }, await certify(authority, host));
    made = new MadeImages(new MemoryImageFiles());
    exchange = new LayerExchange(made);
    port.onRequest((id, { request: asked, response }) => void exchange.handle(id, asked, response));
    for (const id of ['one', 'build']) port.admit(id, hashOfToken(`token-of-${id}`));
    exchange.serve('one', [async () => Readable.from([Buffer.from('first')])]);
    exchange.takeFrom('build', 1);
  });
  afterEach(() => port.close());

  /** As a pod asks. */
  function ask(method: string, path: string, from: string) {
    const headers = { authorization: `Bearer token-of-${from}` };
    const ca = authority.certificate;
    const asked = request({ host, port: port.port, path, method, ca, headers, agent: false });
    asked.on('error', () => {});
    return asked;
  }
  async function answer(method: string, path: string, from: string, content?: Buffer) {
    const asked = ask(method, path, from).end(content);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    return { status: response.statusCode, said: await text(response) };
  }

  it('are given to the pod that runs them, and to nobody else', async () => {
    expect(await answer('GET', '/layers/0', 'one')).toEqual({ status: 200, said: 'first' });
    expect(await answer('GET', '/layers/1', 'one')).toMatchObject({ status: 404 });
    expect(await answer('GET', '/layers/../0', 'one')).toMatchObject({ status: 404 });
    expect(await answer('GET', '/layers/0', 'build')).toMatchObject({ status: 404 });
    expect(await answer('GET', '/layers/0', 'nobody')).toMatchObject({ status: 426 });
    exchange.forget('one');
    expect(await answer('GET', '/layers/0', 'one')).toMatchObject({ status: 404 });
  });

  it('are taken from a build, and once', async () => {
    expect(await answer('PUT', '/layer', 'one', mebibyte)).toMatchObject({ status: 403 });
    expect(await made.all()).toEqual([]);
    expect(await answer('PUT', '/layer', 'build', mebibyte)).toEqual({ status: 204, said: '' });
    expect(await answer('PUT', '/layer', 'build', Buffer.from('other'))).toMatchObject({
      status: 403,
    });
    const kept = await made.layer(await made.make('build', of));
    expect((await buffer(kept)).equals(mebibyte)).toBe(true);
  });

  it('are not kept beyond what a build may write', async () => {
    const large = Buffer.concat([mebibyte, mebibyte, Buffer.from('x')]);
    expect(await answer('PUT', '/layer', 'build', large)).toMatchObject({ status: 413 });
    expect(await made.all()).toEqual([]);
  });

  it('are not kept when they break off', async () => {
    const kept = jest.spyOn(made, 'keepLayer');
    const asked = ask('PUT', '/layer', 'build');
    asked.write(mebibyte);
    await until('it is being kept', () => kept.mock.results[0]);
    asked.destroy();
    await expect(kept.mock.results[0]?.value).rejects.toThrow();
    expect(await made.all()).toEqual([]);
  });
});
