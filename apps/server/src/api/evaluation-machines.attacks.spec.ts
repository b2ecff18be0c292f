import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { machineServerCalls, taskCalls, type MachineKind, type MadeToken } from '@belay/protocol';
import { dialRpc, type RpcConnection } from '@belay/rpc';
import { until } from '@belay/testing';
import { ContainerHost } from '@belay/containers';
import { Config } from '../config.js';
import { Machines } from '../sandboxes/machines/machines.js';
import { TestServer } from '../testing/server.js';

type MachineEnd = RpcConnection<typeof taskCalls, typeof machineServerCalls>;
type EvaluationEnd = RpcConnection<Record<never, never>, typeof taskCalls>;

const server = new TestServer();
const ends: { close(): Promise<void> }[] = [];
beforeAll(() => server.start({ BELAY_REQUESTS_PER_SECOND: '0' }));
afterAll(async () => {
  await Promise.all(ends.map((end) => end.close()));
  await server.close();
});

const address = () => server.url.replace(/^http/, 'ws');

/** A machine that serves tasks, and the runs that it guards. */
async function joined(name: string, kind: MachineKind = 'container') {
  const machines = server.app.get(Machines);
  const { token } = await machines.invite(name);
  const description = { host: 'h', os: 'Linux', arch: 'x64', kind };
  const { credential } = await machines.join(token, description);
  const connection: MachineEnd = dialRpc({
    address: address(),
    token: credential,
    serves: taskCalls,
    calls: machineServerCalls,
  });
  ends.push(connection);
  const guarded = new Set<string>();
  connection.serve({
    'task.capacity': async () => ({ cpus: 2, memoryMb: 1_000, lacks: [] }),
    'task.guard': async ({ run }: { run: string }, { signal }: { signal: AbortSignal }) => {
      guarded.add(run);
      await new Promise((over) => signal.addEventListener('abort', over));
      guarded.delete(run);
      return {};
    },
    'task.create': async () => ({ id: 'c'.repeat(12) }),
  } as never);
  connection.accept('task.image', async ({ image }, stream) => {
    void text(stream).then((content) => stream.end(`${image} ${content}`));
  });
  connection.accept('task.files', async ({ path }, stream) => {
    stream.end(`content of ${path}`);
  });
  await connection.call('machine.hello', {
    description,
    running: [],
    ...(kind === 'container' && { capacity: { sandboxes: 1, memoryMb: 1_000, cpus: 2 } }),
  });
  return { connection, guarded };
}

const ask = (name: string, token = server.token) =>
  server.fetch(`/api/machines/${name}/tasks`, { method: 'POST', token });
async function tokenFor(name: string, caller?: string): Promise<string> {
  return ((await (await ask(name, caller)).json()) as { token: string }).token;
}
function evaluation(token: string): EvaluationEnd {
  const connection = dialRpc({ address: address(), token, serves: {}, calls: taskCalls });
  ends.push(connection);
  return connection;
}

const image = `sha256:${'a'.repeat(64)}`;
const task = {
  run: 'one',
  image,
  command: null,
  user: null,
  workdir: null,
  env: {},
  cpus: 1,
  memoryMb: 10,
  network: 'none' as const,
  archive: new Uint8Array(),
};

it('leads an evaluation to a machine, and ends there what it has begun with it', async () => {
  const box = await joined('box');
  const own = evaluation(await tokenFor('box'));
  expect(await own.call('task.capacity', {})).toEqual({ cpus: 2, memoryMb: 1_000, lacks: [] });
  own.call('task.guard', { run: 'one' }).catch(() => {});
  await until('it is guarded', () => box.guarded.has('one'));
  const sent = await own.open('task.image', { image });
  const answer = new PassThrough();
  await Promise.all([
    pipeline(PassThrough.from([Buffer.from('archive')]), sent),
    pipeline(sent, answer),
  ]);
  expect(await text(answer)).toBe(`${image} archive`);
  const read = await own.open('task.files', { id: 'c'.repeat(12), path: '/out' });
  read.end();
  expect(await text(read)).toBe('content of /out');
  await own.close();
  await until('it has ended there', () => box.guarded.size === 0);
});

describe('on the server’s own cluster', () => {
  const askOwn = (token = server.token) =>
    server.fetch('/api/sandboxes/tasks', { method: 'POST', token });
  const host = () => server.app.get<ContainerHost>(ContainerHost);
  afterEach(() => void Reflect.deleteProperty(host(), 'tasks'));

  it('runs tasks of an evaluation, which end with it', async () => {
    const guarded = new Set<string>();
    const tasks = {
      capacity: async () => ({ cpus: 3, memoryMb: 2_000, lacks: [] }),
      guard: (run: string) => {
        guarded.add(run);
        return () => guarded.delete(run);
      },
      sweep: async () => {},
    };
    const given = jest.fn(() => tasks);
    Object.assign(host(), { tasks: given });
    expect(await server.json('GET', '/api/sandboxes')).toMatchObject({ tasks: true });
    const { token } = (await (await askOwn()).json()) as { token: string };
    const own = evaluation(token);
    expect(await own.call('task.capacity', {})).toEqual({
      cpus: 3,
      memoryMb: 2_000,
      lacks: ['network'],
    });
    const { maxSandboxes, memoryMb, cpus } = server.app.get(Config);
    expect(given.mock.calls).toEqual([
      [{ memoryMb: maxSandboxes * memoryMb, cpus: maxSandboxes * cpus }],
    ]);
    own.call('task.guard', { run: 'one' }).catch(() => {});
    await until('it is guarded', () => guarded.size === 1);
    const tooLarge = { ...task, memoryMb: memoryMb + 1 };
    await expect(own.call('task.create', tooLarge)).rejects.toThrow(/BELAY_MEMORY_MB/);
    await own.close();
    await until('it has ended', () => guarded.size === 0);
  });

  it('is for admins, and not there with a Docker Engine', async () => {
    expect((await askOwn(server.viewerToken)).status).toBe(403);
    expect(await server.json('GET', '/api/sandboxes')).toMatchObject({ tasks: false });
    const refused = await askOwn();
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({
      detail: expect.stringContaining('has a Docker Engine, not a cluster') as string,
    });
  });
});

it('tells an evaluation that its machine is gone', async () => {
  const gone = await joined('gone');
  const own = evaluation(await tokenFor('gone'));
  const guarded = own.call('task.guard', { run: 'one' });
  await until('it is guarded', () => gone.guarded.has('one'));
  await gone.connection.close();
  // It is not admitted again.
  await expect(guarded).rejects.toMatchObject({ code: 'unauthorized' });
});

describe('attacks: a machine', () => {
  it('runs no tasks for others than admins', async () => {
    await joined('mine');
    const wanted = { label: 'chat', scope: 'operate' };
    const operator = await server.json<MadeToken>('POST', '/api/tokens', wanted);
    for (const token of [operator.token, server.viewerToken, ''])
      expect([401, 403]).toContain((await ask('mine', token)).status);
    expect((await ask('mine')).status).toBe(201);
  });

  it('runs none that is bare, drained or unknown, and no new ones once it is drained', async () => {
    await joined('bare', 'bare');
    expect((await ask('bare')).status).toBe(403);
    expect((await ask('nobody')).status).toBe(404);
    await joined('drained');
    const own = evaluation(await tokenFor('drained'));
    await own.call('task.create', task);
    await server.app.get(Machines).change('drained', { draining: true });
    await expect(own.call('task.create', task)).rejects.toMatchObject({ code: 'unavailable' });
    expect((await ask('drained')).status).toBe(503);
  });

  it('is reached by one process with a token, and by none once its caller has no access', async () => {
    await joined('held');
    const admin = await server.json<MadeToken & { id: string }>('POST', '/api/tokens', {
      label: 'evaluations',
      scope: 'admin',
    });
    const token = await tokenFor('held', admin.token);
    const own = evaluation(token);
    await own.call('task.capacity', {});
    const other = evaluation(token);
    await expect(other.call('task.capacity', {})).rejects.toMatchObject({ code: 'forbidden' });
    const guarded = own.call('task.guard', { run: 'one' });
    await own.call('task.capacity', {});
    await server.fetch(`/api/tokens/${admin.id}`, { method: 'DELETE' });
    await expect(guarded).rejects.toMatchObject({ code: 'unauthorized' });
    const late = evaluation(token);
    await expect(late.call('task.capacity', {})).rejects.toMatchObject({ code: 'unauthorized' });
  });
});
