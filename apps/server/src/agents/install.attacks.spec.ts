import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Logger } from '@nestjs/common';
import type { DockerClient } from '@belay/containers';
import { until } from '@belay/testing';
import { Config } from '../config.js';
import { Database } from '../storage/database.js';
import { Documents } from '../storage/documents.js';
import { FakeEngine } from '../testing/fake-engine.js';
import { AgentInstaller } from './agent-installer.js';
import type { LockedPackage } from './agent-lock.js';
import { AgentStore } from './agent.store.js';
import { dockerHostOf } from '../containers/docker-host-of.js';
import { AgentVolumes } from './agent-volumes.js';
import { npmRegistry } from './npm-registry.js';
import {
  installableWith,
  PackageRegistry,
  plainFile,
  someEntry,
  tarOf,
  type PackageFile,
} from './testing/package-registry.js';

const registry = new PackageRegistry();
const plain = plainFile('index.js');
let data: string;
let engine: FakeEngine;

beforeAll(() => {
  Logger.overrideLogger(false);
  return registry.open();
});
afterAll(() => registry.close());
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'belay-agents-'));
  engine = new FakeEngine();
  registry.onSend = (archive) => archive;
  registry.requests.length = 0;
});
afterEach(() => rm(data, { recursive: true }));

/** Installs an agent of one package; returns the error's sentence, or null for success. */
async function install(locked: LockedPackage, more: Record<string, string> = {}) {
  const config = new Config({
    BELAY_DATA: data,
    HOME: data,
    npm_config_registry: registry.url,
    ...more,
  });
  const database = new Database(config);
  const store = new AgentStore(config, await Documents.load(config, database));
  const volumes = new AgentVolumes(config, dockerHostOf(config, engine as unknown as DockerClient));
  const lock = { roots: { [locked.name]: locked.version }, platforms: {}, packages: [locked] };
  const log = { summaries: () => Promise.resolve([]) };
  const installer = new AgentInstaller(
    store,
    volumes,
    installableWith(someEntry(), lock) as never,
    log as never,
  );
  installer.begin('fake', { accept: false });
  await until('the install ended', () => installer.progress('fake').state !== 'installing');
  const { error } = installer.progress('fake');
  expect(store.current('fake') === undefined).toBe(error !== null);
  if (error !== null) expect([engine.volumeNames.size, engine.containers.size]).toEqual([0, 0]);
  expect(await readdir(data)).not.toContain('agent-downloads');
  await installer.beforeApplicationShutdown();
  await database.onApplicationShutdown();
  return error;
}

const published = (files: readonly PackageFile[]) => registry.publish('program', files);

it('installs what the lock says', async () => {
  // As in packages that exist.
  const files = [plain, plainFile('./dist/./main.js'), plainFile('dist/main.js', 'later')];
  expect(await install(await published(files))).toBeNull();
  expect(engine.unpacked.size).toBe(1);
});

describe('a package that was changed', () => {
  const changes: Record<string, (archive: Buffer) => Buffer> = {
    'in one bit': (archive) => {
      archive[archive.length - 5] = (archive.at(-5) ?? 0) ^ 1;
      return archive;
    },
    'at its end, by more': (archive) => Buffer.concat([archive, Buffer.from([0])]),
    'at its end, by less': (archive) => archive.subarray(0, -1),
    'to a web page': () => Buffer.from('<html>'),
    'to nothing': () => Buffer.alloc(0),
  };

  it.each(Object.entries(changes))('%s is refused, and never unpacked', async (_, change) => {
    const locked = await published([plain]);
    registry.onSend = change;
    expect(await install(locked)).toMatch(/than Belay’s lock says\. Nothing was installed/);
    expect(engine.calls).not.toContain('unpack');
  });

  it('is refused if it has another hash of the same size', async () => {
    const locked = await published([plain]);
    const other = await registry.publish('other', [plainFile('index.js', 'other')]);
    expect(await install({ ...locked, integrity: other.integrity })).toMatch('other content');
  });
});

describe('an archive', () => {
  const hostile: [string, PackageFile[]][] = [
    ['that leads out', [{ name: 'package/../../../../etc/passwd' }]],
    ['that begins at the root', [{ name: '/etc/passwd' }]],
    ['with a file that has no name', [{ name: 'package' }]],
    ['with a symbolic link', [{ name: 'package/link', type: 'symlink', linkname: '/etc' }]],
    ['with a hard link', [{ name: 'package/link', type: 'link', linkname: '/etc/passwd' }]],
    ['with a device', [{ name: 'package/sda', type: 'block-device', devmajor: 8, devminor: 0 }]],
    ['with a pipe', [{ name: 'package/pipe', type: 'fifo' }]],
    ['with a control character', [plainFile('a\u001b[2J')]],
    ['with a backslash', [plainFile('..\\..\\x')]],
  ];

  it.each(hostile)('%s is refused, though its lock fits', async (_, files) => {
    expect(await install(await published([plain, ...files]))).toMatch(/cannot be unpacked/);
  });

  it('that is none is refused', async () => {
    expect(await install(await registry.publish('program', Buffer.from('no gzip')))).toMatch(
      'it is not a tar archive',
    );
    const cut = gzipSync((await tarOf([plainFile('a', 'x'.repeat(9_000))])).subarray(0, 4_000));
    expect(await install(await registry.publish('program', cut))).not.toBeNull();
  });
});

describe('the registry', () => {
  it('gets its own credential, and no other one does', async () => {
    const host = new URL(registry.url).host;
    const NPM_CONFIG_USERCONFIG = `${data}/npmrc`;
    await writeFile(
      NPM_CONFIG_USERCONFIG,
      `//${host}/:_authToken=\${TOKEN}\n//other.example/:_authToken=secret\nregistry=https://ignored.example\n`,
    );
    expect(
      await install(await published([plain]), { NPM_CONFIG_USERCONFIG, TOKEN: 't1' }),
    ).toBeNull();
    expect(registry.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer t1']);
    const elsewhere = { NPM_CONFIG_USERCONFIG, npm_config_registry: 'https://third.example/npm' };
    expect(await npmRegistry(elsewhere, data)).toEqual({
      url: 'https://third.example/npm/',
      authorization: undefined,
    });
    expect(await npmRegistry({ NPM_CONFIG_USERCONFIG }, data)).toMatchObject({
      url: 'https://ignored.example/',
    });
  });

  it('that is not reached, or is none, is named in a sentence', async () => {
    const locked = await published([plain]);
    const missing = { ...locked, version: '9.9.9' };
    expect(await install(missing)).toMatch('did not send program 9.9.9: it answered 404.');
    const closed = await new PackageRegistry().open();
    const away = { npm_config_registry: closed.url };
    await closed.close();
    expect(await install(locked, away)).toMatch(/did not send program 1\.0\.0: .*ECONNREFUSED/);
    const none = { npm_config_registry: 'file:///etc/' };
    expect(await install(locked, none)).toMatch('is not an HTTP address');
  });
});
