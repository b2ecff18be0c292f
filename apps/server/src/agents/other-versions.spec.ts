import { DockerClient } from '@belay/containers';
import type { AgentChoice, OtherAgentVersion } from '@belay/protocol';
import { until } from '@belay/testing';
import { FakeEngine } from '../testing/fake-engine.js';
import { TestServer } from '../testing/server.js';
import { InstallableAgents } from './installable-agents.js';
import {
  installableWith,
  PackageRegistry,
  plainFile,
  someEntry,
} from './testing/package-registry.js';

const engine = new FakeEngine();
const registry = new PackageRegistry();
const server = new TestServer();
const platform = { cpu: [process.arch], libc: ['glibc' as const, 'musl' as const] };

beforeAll(async () => {
  await registry.open();
  const dependencies = { library: '^1.0.0' };
  const program = (version: string, needs: object) =>
    registry.publish('@vendor/program', [plainFile('run', version)], { version, needs });
  const native = (version: string) =>
    registry.publish('native', [plainFile('bin', version)], { version, ...platform });
  // The program for a processor is a version of its own of the same package.
  const alias = (version: string) => ({ 'native-alias': `npm:native@${version}-linux` });
  const packages = [
    await program('1.0.0', { dependencies, optionalDependencies: alias('1.0.0') }),
    { ...(await native('1.0.0-linux')), path: 'node_modules/native-alias' },
    await registry.publish('library', [plainFile('index.js')]),
    await registry.publish('terminal', [plainFile('a.node')], { version: '0.3.0', cpu: ['mips'] }),
  ];
  await program('1.1.0', { dependencies, optionalDependencies: alias('1.1.0') });
  await native('1.1.0-linux');
  await program('2.0.0', { dependencies: { library: '^2.0.0' } });
  await program('1.2.0', { dependencies });
  const lock = {
    roots: { '@vendor/program': '1.0.0' },
    platforms: { 'native-alias': { libc: platform.libc }, terminal: { libc: platform.libc } },
    packages,
  };
  server.replace(DockerClient, engine as never);
  server.replace(InstallableAgents, installableWith(someEntry(), lock) as never);
  await server.start({ npm_config_registry: registry.url, HOME: '/nonexistent' });
});
afterAll(async () => {
  await server.close();
  await registry.close();
});

const look = (version: string) =>
  server.json<OtherAgentVersion>('GET', `/api/agents/fake/versions/${version}`);
const install = (other: object) =>
  server.json<AgentChoice>('POST', '/api/agents/fake/install', { other });
const listed = async () => {
  const agents = (await (await server.fetch('/api/agents')).json()) as AgentChoice[];
  return agents.find(({ name }) => name === 'fake');
};

describe('a version that the lock does not name', () => {
  it('is shown with what the registry says, and installed once that is confirmed', async () => {
    const { version, packages } = await look('1.1.0');
    expect(packages).toEqual([
      { name: '@vendor/program', version: '1.1.0', integrity: expect.stringMatching(/^sha512-/) },
      { name: 'native', version: '1.1.0-linux', integrity: expect.stringMatching(/^sha512-/) },
    ]);
    const integrity = packages.map((one) => one.integrity);
    const [first = '', second = ''] = integrity;
    for (const wrong of [[], [first], [second, first]])
      expect(await install({ version, integrity: wrong })).toMatchObject({ status: 409 });
    expect(await install({ version, integrity })).toMatchObject({ state: 'installing' });
    await until('it is installed', async () => (await listed())?.state === 'ready');
    expect(await listed()).toMatchObject({ version: '1.1.0', newest: '1.0.0' });
  });

  it.each([
    ['3.0.0', 404, 'no version 3.0.0 of @vendor/program'],
    ['2.0.0', 409, 'needs other packages than 1.0.0'],
    ['1.2.0', 409, 'has no package native-alias for this platform'],
    ['latest', 400, 'a version such as 1.2.3'],
    ['constructor', 400, 'a version such as 1.2.3'],
  ])('is refused for %s', async (version, status, sentence) => {
    const detail = expect.stringContaining(sentence);
    expect(await look(version)).toMatchObject({ status, detail });
  });

  it('is not installed when its archive is another one than was confirmed', async () => {
    const { version, packages } = await look('1.1.0');
    registry.onSend = (archive) => Buffer.concat([archive, Buffer.from('x')]);
    await install({ version, integrity: packages.map(({ integrity }) => integrity) });
    await until('it failed', async () => (await listed())?.state === 'failed');
    expect(await listed()).toMatchObject({
      error: expect.stringContaining('Nothing was installed'),
    });
  });
});
