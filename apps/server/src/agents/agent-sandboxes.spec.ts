import { readFileSync } from 'node:fs';
import { agentProgram, newEvent, type SessionAgent } from '@belay/protocol';
import { until } from '@belay/testing';
import { SandboxServer } from '../testing/sandbox-server.js';
import { agentTable } from './agent-table.js';

const [entry] = [...agentTable.values()].filter(({ policy }) => policy.length > 0);
const name = entry?.name ?? '';
const agent: SessionAgent = { name, version: '1.0.0', protocol: 'acp' };
const model = `${{ messages: 'anthropic', responses: 'openai', chat: 'own', gemini: 'google' }[entry?.formats[0] ?? 'chat']}:large`;

let server: SandboxServer;
/** The volume with the agent’s packages. */
let volume: string;
async function open(env: Record<string, string> = {}): Promise<void> {
  server = await new SandboxServer().open(env);
  volume = server.agentStore.volumeName([name]);
  await server.agentStore.putInstalled({
    name,
    version: '1.0.0',
    installed: new Date().toISOString(),
    volumes: [{ name: volume, libraries: ['glibc'] }],
    retired: false,
  });
}
beforeEach(() => open());
afterEach(() => server.close());

const started = async (session: string) => {
  await server.startSession(session);
  const begun = server.begun.find((one) => one.session === session);
  return agentProgram.parse(begun?.program);
};
const mountsOf = (session: string) => {
  const container = [...server.engine.containers.values()].find(({ name: its }) =>
    its.endsWith(session),
  );
  return container?.spec.HostConfig?.Mounts ?? [];
};

it('get the packages and the policy files read-only, in a container of their own', async () => {
  await server.close();
  await open({ BELAY_POOL: '1' });
  await until('one is warm', () => server.service.counts.warm === 1);
  await server.logs.session('one', { agent, model });
  await started('one');
  expect(server.service.counts.warm).toBe(1);
  const mounts = mountsOf('one');
  expect(mounts.find(({ Source }) => Source === volume)).toMatchObject({
    Type: 'volume',
    Target: `/opt/agents/${name}`,
    ReadOnly: true,
  });
  for (const { path, text } of entry?.policy ?? []) {
    const mount = mounts.find(({ Target }) => Target === path);
    expect(mount).toMatchObject({ Type: 'bind', ReadOnly: true });
    expect(readFileSync(String(mount?.Source), 'utf8')).toBe(text);
  }
  // Belay’s own sessions get none of it.
  await server.startSession('two');
  expect(JSON.stringify(mountsOf('two'))).not.toMatch(/belay-agent|placed-/);
});

it('share nothing between two sessions but the packages', async () => {
  await server.logs.session('one', { agent, model });
  await server.logs.session('two', { agent, model });
  const [one, two] = [await started('one'), await started('two')];
  expect(one.token).not.toBe(two.token);
  expect(one.token).toHaveLength(43);
  expect(JSON.stringify(one)).not.toContain(two.token);
  const written = (session: string) =>
    mountsOf(session)
      .filter(({ ReadOnly }) => !ReadOnly)
      .map(({ Source }) => Source);
  expect(written('one').filter((source) => written('two').includes(source))).toEqual([]);
});

it('start before and after the user trusts the project', async () => {
  await server.logs.session('one', { agent, model });
  const { launches, home, project } = await started('one');
  expect(project).toEqual(entry?.project);
  expect(JSON.stringify(launches.trusted)).not.toBe(JSON.stringify(launches.untrusted));
  for (const { files, env } of [launches.trusted, launches.untrusted]) {
    for (const { path } of files) expect(path.startsWith(`${home}/`)).toBe(true);
    expect(env).toMatchObject({ NO_PROXY: 'localhost,127.0.0.1,::1' });
  }
});

it('start again for another model with the token that they have', async () => {
  await server.logs.session('one', { agent, model });
  const { token, launches } = await started('one');
  const current = async (session: string, its = token) =>
    (await server.agents.get(session)?.call('program.current', { token: its }))?.program;
  expect(await current('one')).toMatchObject({ token, launches });
  const other = model.replace('large', 'other');
  const change = newEvent('user', 'change', { args: { model: other }, message: 'Other' });
  await server.logs.log.append('one', [change]);
  const later = await current('one');
  expect(later?.token).toBe(token);
  expect(JSON.stringify(later?.launches)).toContain('other');
  expect(JSON.stringify(later?.launches)).not.toContain('large');
  await expect(current('one', `${token}"\n[evil]`)).rejects.toThrow();
  await server.startSession('own');
  await expect(current('own')).rejects.toThrow('no program of another agent');
});

it.each([
  [['/lib/nothing'], /has no C library that/],
  [['/lib/ld-musl-x86_64.so.1', '/lib/ld-musl-aarch64.so.1'], /has no C library that/],
])('do not start in an image with %j', async (paths, sentence) => {
  server.engine.paths = paths;
  await server.logs.session('one', { agent, model });
  await expect(server.startSession('one')).rejects.toThrow(sentence);
  expect([...server.engine.volumeNames]).toEqual([]);
  expect(server.engine.containers.size).toBe(0);
});

it('do not start with a version that was removed', async () => {
  const [one] = server.agentStore.installed;
  if (one) await server.agentStore.forget(one);
  await server.logs.session('one', { agent, model });
  await expect(server.startSession('one')).rejects.toThrow(/1\.0\.0 was removed from this server/);
});

describe('a user’s own sign-in', () => {
  const signIn = { user: 'user:ada', agent: name };
  const signedIn: SessionAgent = { ...agent, protocol: 'terminal', login: signIn.user };
  const wantedBy = (session: string, login = signedIn) =>
    server.logs.session(session, { agent: login, model: `${name}:subscription` });
  const give = (session: string, before?: string) =>
    server.signIns.give(signIn, { session, before });
  const homeOf = (session: string) =>
    mountsOf(session).find(({ Target }) => Target === '/var/lib/belay/login');

  it('is in the sandbox of its session, in a terminal and without the gateway', async () => {
    await wantedBy('one');
    await give('one');
    const program = await started('one');
    expect(homeOf('one')).toMatchObject({
      Type: 'volume',
      Source: server.signIns.find(signIn)?.volume,
    });
    expect(homeOf('one')?.ReadOnly).not.toBe(true);
    expect(program).toMatchObject({
      login: true,
      protocol: 'terminal',
      home: homeOf('one')?.Target,
    });
    expect(JSON.stringify(program.launches)).not.toContain(program.token);
    expect(JSON.stringify(program.launches)).not.toContain('46501');
    for (const { path, text } of entry?.login?.policy ?? []) {
      const mount = mountsOf('one').find(({ Target }) => Target === path);
      expect(readFileSync(String(mount?.Source), 'utf8')).toBe(text);
    }
  });

  it('attacks: does not get into a sandbox of any other session', async () => {
    await wantedBy('one');
    await expect(server.startSession('one')).rejects.toThrow(/only one session may use it/);
    await give('two');
    await expect(server.startSession('one')).rejects.toThrow(/only one session may use it/);
    await give('one', 'two');
    // It was given another user’s, or that of another agent.
    await wantedBy('three', { ...signedIn, login: 'user:bob' });
    await give('three', 'one');
    await expect(server.startSession('three')).rejects.toThrow(/only one session may use it/);
    expect(server.engine.containers.size).toBe(0);
    await give('one', 'three');
    await started('one');
    expect(homeOf('one')).toBeDefined();
  });

  it('attacks: is given to one of two that ask together', async () => {
    await give('one');
    const asked = await Promise.allSettled([give('two', 'one'), give('three', 'one')]);
    expect(asked.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });
});
