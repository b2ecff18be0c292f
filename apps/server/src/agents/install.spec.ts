import { DockerClient } from '@belay/containers';
import type { AgentChoice, MadeToken, SessionSummary } from '@belay/protocol';
import { until } from '@belay/testing';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import { FakeEngine } from '../testing/fake-engine.js';
import { TestServer } from '../testing/server.js';
import type { AgentLock } from './agent-lock.js';
import { AgentStore } from './agent.store.js';
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
let lock: AgentLock;

beforeAll(async () => {
  await registry.open();
  const program = await registry.publish('@vendor/program', [
    plainFile('package.json', JSON.stringify({ scripts: { postinstall: 'node owned.js' } })),
    plainFile('bin/program', '#!/bin/sh\n', 0o6755),
  ]);
  const [glibc, musl] = [
    await registry.publish('native', [plainFile('run', 'glibc', 0o755)], {
      cpu: [process.arch],
      libc: ['glibc'],
    }),
    await registry.publish('native-musl', [plainFile('run', 'musl', 0o755)], {
      cpu: [process.arch],
      libc: ['musl'],
    }),
  ];
  lock = {
    roots: { '@vendor/program': '1.0.0' },
    platforms: { native: { libc: ['glibc'] }, 'native-musl': { libc: ['musl'] } },
    packages: [program, glibc, musl],
  };
  server.replace(DockerClient, engine as never);
  server.replace(InstallableAgents, installableWith(someEntry(), lock) as never);
  await server.start(environment());
});
afterAll(async () => {
  await server.close();
  await registry.close();
});

const environment = () => ({ npm_config_registry: registry.url, HOME: '/nonexistent' });

const listed = async (name = 'fake'): Promise<AgentChoice> => {
  const answer = await server.fetch('/api/agents');
  const agents = (await answer.json()) as AgentChoice[];
  const found = agents.find((one) => one.name === name);
  if (!found) throw new Error(`${name} is not listed`);
  return found;
};
const install = (body: object = {}) =>
  server.json<AgentChoice>('POST', '/api/agents/fake/install', body);
const installed = () => until('it is installed', async () => (await listed()).state === 'ready');
const remove = async (name = 'fake') =>
  (await server.fetch(`/api/agents/${name}`, { method: 'DELETE' })).status;
const newSession = (more: object = {}) =>
  server.json<SessionSummary>('POST', '/api/sessions', {
    task: 'x',
    model: 'openai:large',
    ...more,
  });

describe('the install of an agent', () => {
  it('fills a volume for each kind of image, from the configured registry alone', async () => {
    expect(await newSession({ agent: { name: 'fake' } })).toMatchObject({
      status: 409,
      detail: expect.stringContaining(
        'Fake is not installed on this server: `belay agents install',
      ),
    });
    expect(await install()).toMatchObject({ status: 202, state: 'installing', newest: '1.0.0' });
    await installed();
    expect(await listed()).toMatchObject({ version: '1.0.0', error: null });
    const volumes = [...engine.unpacked.keys()];
    expect(volumes).toEqual([
      expect.stringMatching(/^belay-agent-\w+-fake-1\.0\.0-\w+-glibc$/),
      expect.stringMatching(/^belay-agent-\w+-fake-1\.0\.0-\w+-musl$/),
    ]);
    const files = await Promise.all(volumes.map((name) => filesIn(engine.unpacked.get(name))));
    expect(files[0]).toEqual({
      'node_modules/@vendor/program/package.json': 0o644,
      // Neither setuid nor setgid.
      'node_modules/@vendor/program/bin/program': 0o755,
      'node_modules/native/run': 0o755,
    });
    expect(Object.keys(files[1] ?? {})).toContain('node_modules/native-musl/run');
  });

  it('runs nothing: no script of a package, and no container', () => {
    for (const method of ['start', 'exec', 'attach', 'commit'])
      expect(engine.calls).not.toContain(method);
    expect(engine.containers.size).toBe(0);
  });

  it('is for admins, and using it for everyone who may start sessions', async () => {
    const token = async (label: string, scope: string) =>
      (await server.json<MadeToken>('POST', '/api/tokens', { label, scope })).token;
    const operator = await token('operator', 'operate');
    const asOperator = (method: string, path: string, body?: object) =>
      server.fetch(path, {
        method,
        token: operator,
        ...(body && {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      });
    for (const [method, path, body] of [
      ['POST', '/api/agents/fake/install', {}],
      ['DELETE', '/api/agents/fake', undefined],
      ['PUT', '/api/custom-agents/mine', { command: ['x'], protocol: 'acp' }],
    ] as const)
      expect((await asOperator(method, path, body)).status).toBe(403);
    expect((await asOperator('GET', '/api/agents')).status).toBe(200);
    const started = await asOperator('POST', '/api/sessions', {
      task: 'x',
      model: 'openai:large',
      agent: { name: 'fake', small: 'openai:little' },
    });
    expect(await started.json()).toMatchObject({
      agent: { name: 'fake', version: '1.0.0', protocol: 'acp', small: 'openai:little' },
    });
  });

  it.each([
    [{ model: 'google:pro' }, 'Fake cannot call models of google: choose one of openai'],
    [{ model: 'scripted:x' }, 'Fake calls its model itself'],
    [{ agent: { name: 'other' } }, 'There is no agent “other”.'],
    [{ agent: { name: 'fake', small: 'google:little' } }, 'must be of openai'],
    [{ agent: { name: 'constructor' } }, 'There is no agent “constructor”.'],
  ])('is not used for a session with %j', async (more, sentence) => {
    const answer = await newSession({ agent: { name: 'fake' }, ...more });
    expect(answer).toMatchObject({ detail: expect.stringContaining(sentence) });
  });

  it('keeps the model of its session within those that it can call', async () => {
    const plain = await newSession({ agent: { name: 'fake' } });
    const change = ({ id }: { id?: string }, model: string) =>
      server.json<SessionSummary>('PATCH', `/api/sessions/${id}`, { model });
    const fork = ({ id }: { id?: string }, more: object) =>
      server.json<SessionSummary>('POST', `/api/sessions/${id}/fork`, { seq: 1, ...more });
    const refused = { status: 400, detail: expect.stringContaining('Fake cannot call models of') };
    expect(await change(plain, 'google:pro')).toMatchObject(refused);
    expect(await fork(plain, { model: 'google:pro' })).toMatchObject(refused);
    expect((await server.log.summary(plain.id)).model).toBe('openai:large');
    expect(await change(plain, 'openai:larger')).toMatchObject({ model: 'openai:larger' });
    const own = { model: 'google:pro', agent: { name: 'belay' } };
    expect(await fork(plain, own)).toMatchObject({ model: 'google:pro', agent: null });
  });

  it('is removed for new sessions at once, and its files with the last session that has it', async () => {
    await newSession({ agent: { name: 'fake' } });
    expect(await remove()).toBe(204);
    expect(await listed()).toMatchObject({ state: 'missing', version: null });
    expect(await remove()).toBe(404);
    expect(await newSession({ agent: { name: 'fake' } })).toMatchObject({ status: 409 });
    expect(engine.volumeNames.size).toBe(2);
    // A restart of the server removes them as little.
    await server.restart(environment());
    expect(engine.volumeNames.size).toBe(2);
    for (const { id, agent } of await server.log.summaries())
      if (agent) await server.fetch(`/api/sessions/${id}`, { method: 'DELETE' });
    await until('the files are gone', () => engine.volumeNames.size === 0);
  });

  it('leaves an installed version as it is when an update fails', async () => {
    await install();
    await installed();
    engine.fail('unpack');
    expect(await install()).toMatchObject({ state: 'installing' });
    await until('it failed', async () => (await listed()).state === 'failed');
    expect(await listed()).toMatchObject({ error: 'Docker does not respond.', version: '1.0.0' });
    expect(engine.containers.size).toBe(0);
    await install();
    await installed();
  });

  it('happens once when it is asked for twice', async () => {
    const before = registry.requests.length;
    const held = Promise.withResolvers<void>();
    registry.beforeSend = () => held.promise;
    const [one, two] = await Promise.all([install(), install()]);
    expect([one.state, two.state]).toEqual(['installing', 'installing']);
    held.resolve();
    await installed();
    expect(registry.requests.length - before).toBe(3);
  });

  it('waits for the acceptance of a proprietary licence', async () => {
    const proprietary = someEntry({ licence: { spdx: null, url: 'https://vendor.example/terms' } });
    server.replace(InstallableAgents, installableWith(proprietary, lock) as never);
    await server.restart(environment());
    expect(await install()).toMatchObject({
      status: 409,
      detail: expect.stringMatching(/https:\/\/vendor\.example\/terms.*--accept$/),
    });
    expect(await install({ accept: true })).toMatchObject({ state: 'installing' });
    await installed();
  });
});

describe('an entry of an admin', () => {
  const save = (name: string, body: object) =>
    server.json<AgentChoice>('PUT', `/api/custom-agents/${name}`, body);

  it('is used like the others, and shows no value of a variable', async () => {
    const saved = await save('mine', {
      title: 'Mine',
      command: ['my-agent', '--acp'],
      env: { LICENCE_KEY: 'k-123' },
      protocol: 'acp',
    });
    expect(saved).toMatchObject({ kind: 'custom', state: 'ready', variables: ['LICENCE_KEY'] });
    expect(JSON.stringify(saved)).not.toContain('k-123');
    expect(await newSession({ agent: { name: 'mine' } })).toMatchObject({
      agent: { name: 'mine', version: '', protocol: 'acp' },
    });
    expect(await newSession({ agent: { name: 'mine', protocol: 'terminal' } })).toMatchObject({
      detail: 'Mine cannot be driven by terminal. Leave out the protocol, or choose acp.',
    });
    expect(await remove('mine')).toBe(204);
    expect(await newSession({ agent: { name: 'mine' } })).toMatchObject({ status: 404 });
  });

  it('keeps the values of variables that a change does not name', async () => {
    const entry = { command: ['my-agent'], protocol: 'acp' };
    const valuesOf = async (env: object) => {
      await save('mine', { ...entry, env });
      return server.app.get(AgentStore).custom.find(({ name }) => name === 'mine')?.env;
    };
    expect(await valuesOf({ A: 'a', B: 'b', C: 'c' })).toEqual({ A: 'a', B: 'b', C: 'c' });
    expect(await valuesOf({ A: null, C: 'new' })).toEqual({ A: 'a', C: 'new' });
    expect(await save('mine', { ...entry, env: { B: null } })).toMatchObject({
      status: 400,
      detail: 'B has no value yet.',
    });
    // The entry is as it was.
    expect(await valuesOf({ A: null, C: null })).toEqual({ A: 'a', C: 'new' });
  });

  it('continues the session of another agent, which continues its own', async () => {
    await save('mine', { command: ['my-agent', '--acp'], protocol: 'acp' });
    const fork = ({ id }: { id?: string }, agent?: object) =>
      server.json<SessionSummary>('POST', `/api/sessions/${id}/fork`, { seq: 1, agent });
    const own = await newSession();
    const made = await fork(own, { name: 'mine' });
    expect(made).toMatchObject({ agent: { name: 'mine', protocol: 'acp' } });
    expect(await fork(made)).toMatchObject({ agent: { name: 'mine' } });
    expect(await fork(made, { name: 'belay' })).toMatchObject({ status: 201, agent: null });
    expect(await fork(own, { name: 'none' })).toMatchObject({ status: 404 });
  });

  it('keeps its two models at one provider', async () => {
    await save('mine', { command: ['my-agent', '--acp'], protocol: 'acp' });
    const { id } = await newSession({ agent: { name: 'mine', small: 'openai:little' } });
    const change = (model: string) => server.json('PATCH', `/api/sessions/${id}`, { model });
    expect(await change('google:pro')).toMatchObject({
      status: 400,
      detail: expect.stringContaining(
        'The model for small tasks, openai:little, must be of google',
      ),
    });
    expect(await change('openai:larger')).toMatchObject({ model: 'openai:larger' });
  });

  it.each([
    ['fake', { command: ['x'], protocol: 'acp' }, 409],
    ['belay', { command: ['x'], protocol: 'acp' }, 400],
    ['Mine!', { command: ['x'], protocol: 'acp' }, 400],
    ['mine', { command: [], protocol: 'acp' }, 400],
    ['mine', { command: ['x'], protocol: 'own' }, 400],
    ['mine', { command: ['x'], protocol: 'acp', env: { NODE_OPTIONS: '--inspect' } }, 400],
  ])('named %s with %j is refused', async (name, body, status) => {
    expect((await save(name, body)).status).toBe(status);
  });
});

async function filesIn(archive: Buffer | undefined): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  const reader = extract();
  reader.on('entry', ({ name, mode = 0 }, entry, next) => {
    found[name] = mode;
    entry.once('end', next);
    entry.resume();
  });
  await pipeline(Readable.from([archive ?? Buffer.alloc(0)]), reader);
  return found;
}
