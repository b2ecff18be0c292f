import { taskCalls } from '@belay/protocol';
import { memoryConnections, type MemoryConnections } from '@belay/rpc';
import { until } from '@belay/testing';
import type { TaskContainer, TaskEngine, TaskSpec } from '../task-host.js';
import type { ProgramTasks } from '../program-tasks.js';
import { ServedTasks } from './served-tasks.js';

/** An engine that notes what it was asked, with a container that is not of any evaluation. */
class NotedEngine {
  readonly asked: [method: string, ...given: unknown[]][] = [];
  readonly created: TaskSpec[] = [];
  onRun: () => Promise<void> = async () => {};

  get engine(): TaskEngine {
    const note =
      (method: string, value?: unknown) =>
      async (...given: unknown[]) => {
        this.asked.push([method, ...given]);
        return value;
      };
    return {
      image: note('image'),
      load: note('load'),
      forget: note('forget'),
      snapshot: note('snapshot', `sha256:${'e'.repeat(64)}`),
      sweep: note('sweep', 0),
      guard: (run: string) => {
        this.asked.push(['guard', run]);
        return () => void this.asked.push(['released', run]);
      },
      create: async (spec: TaskSpec): Promise<Partial<TaskContainer>> => {
        this.created.push(spec);
        return {
          id: `${this.created.length}`.padStart(12, 'c0'),
          run: async () => {
            await this.onRun();
            return { exitCode: 137, timedOut: false };
          },
          start: note('start') as () => Promise<void>,
          remove: note('remove') as () => Promise<void>,
        };
      },
    } as unknown as TaskEngine;
  }
}

type Connections = MemoryConnections<Record<never, never>, typeof taskCalls>;
let noted: NotedEngine;
let connections: Connections;
let served: ServedTasks;

function open(allowedImages: string[], host?: ProgramTasks): void {
  noted = new NotedEngine();
  served = new ServedTasks({
    host: host ?? noted.engine,
    prefix: 'mine-',
    image: 'belay/sandbox:1',
    allowedImages,
    limits: { memoryMb: 256, cpus: 1 },
    leaseMs: 20,
  });
  connections = memoryConnections({ server: {}, agent: taskCalls });
  served.serve(connections.agent);
}
beforeEach(() => open(['belay/evaluation-*']));
afterEach(async () => {
  await served.close();
  connections.reconnect();
  await Promise.all([connections.server.close(), connections.agent.close()]);
});

const image = `sha256:${'a'.repeat(64)}`;
const create = (more: object = {}) =>
  connections.server.call('task.create', {
    run: 'one',
    image,
    command: ['true'],
    user: null,
    workdir: null,
    env: {},
    cpus: 1,
    memoryMb: 256,
    network: 'none',
    archive: new Uint8Array(),
    ...more,
  });
const guard = (run = 'one') => {
  const over = new AbortController();
  const ended = connections.server.call('task.guard', { run }, { signal: over.signal });
  ended.catch(() => {});
  return over;
};

it('runs images that were sent here, under a name of their own', async () => {
  guard();
  const { id } = await create();
  expect(noted.created).toMatchObject([
    { run: 'mine-one', image: `belay/evaluation-shipped:${'a'.repeat(64)}`, network: 'none' },
  ]);
  await create({ network: `container:${id}` });
  expect(noted.created[1]?.network).toBe(`container:${id}`);
  const { image: kept } = await connections.server.call('task.snapshot', { id });
  await create({ image: kept });
  expect(noted.created[2]?.image).toBe(kept);
});

it('ends what an earlier process of the same evaluation has left, and not what the next one begins', async () => {
  const before = guard();
  await create();
  guard();
  const { id } = await create();
  expect(noted.asked).toEqual([
    ['guard', 'mine-one'],
    ['sweep', 'mine-one'],
    ['guard', 'mine-one'],
    ['released', 'mine-one'],
  ]);
  before.abort();
  await connections.server.call('task.start', { id });
});

it('says nothing about a task that it has ended itself', async () => {
  const over = guard();
  const { id } = await create();
  noted.onRun = async () => {
    over.abort();
    await until('it has ended', () => noted.asked.length === 3);
  };
  await expect(connections.server.call('task.run', { id, seconds: 9 })).rejects.toMatchObject({
    code: 'conflict',
  });
});

describe('a machine that takes no images', () => {
  const asked: string[] = [];
  beforeEach(() => {
    asked.length = 0;
    // The engine’s methods, without those that take images.
    const { load: _, ...methods } = new NotedEngine().engine;
    const host = {
      ...methods,
      capacity: async () => ({ cpus: 1, memoryMb: 256, lacks: ['services'] }),
      assertImage: async (name: string) => void asked.push(name),
      create: async (spec: TaskSpec) => {
        asked.push(`create ${spec.image}`);
        return { id: 'a'.repeat(12), remove: async () => {} };
      },
    };
    open(['belay/evaluation-*', 'tasks/*'], host as unknown as ProgramTasks);
    guard();
  });
  const has = (name: string) =>
    connections.server.call('task.hasImage', { image: `sha256:${'b'.repeat(64)}`, name });

  it('has those that its registries know by a name that its user allows', async () => {
    expect(await connections.server.call('task.capacity', {})).toMatchObject({
      lacks: ['network', 'services'],
    });
    await expect(create()).rejects.toMatchObject({ code: 'conflict' });
    expect(await has('tasks/one:1')).toEqual({ has: true });
    await create({ image: `sha256:${'b'.repeat(64)}` });
    expect(asked).toEqual(['tasks/one:1', 'create tasks/one:1']);
  });

  it('attack: fetches no image that its user has not allowed, and is sent none', async () => {
    await expect(has('other/one:1')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(connections.server.open('task.image', { image })).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(asked).toEqual([]);
  });
});

describe('attacks: a server', () => {
  it('runs no tasks on a machine whose user has not allowed their images', async () => {
    open(['node:*']);
    guard();
    const refused = {
      code: 'forbidden',
      message: expect.stringContaining('--allow-image') as string,
    };
    await expect(create()).rejects.toMatchObject(refused);
    await expect(
      connections.server.call('task.hasImage', { image, name: 'a' }),
    ).rejects.toMatchObject(refused);
    await expect(connections.server.open('task.image', { image })).rejects.toMatchObject(refused);
    await expect(connections.server.call('task.capacity', {})).rejects.toMatchObject(refused);
    expect([noted.created, noted.asked]).toEqual([[], [['guard', 'mine-one']]]);
  });

  it('reaches no containers and images but those of its evaluations', async () => {
    guard();
    const foreign = { id: 'f'.repeat(64) };
    const { server } = connections;
    for (const call of ['task.start', 'task.output', 'task.changes', 'task.snapshot'] as const)
      await expect(server.call(call, foreign)).rejects.toMatchObject({ code: 'conflict' });
    await expect(server.open('task.files', { ...foreign, path: '/' })).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(create({ network: `container:${foreign.id}` })).rejects.toMatchObject({
      code: 'conflict',
    });
    await server.call('task.remove', foreign);
    await server.call('task.forget', { image });
    for (const name of ['postgres:16', 'host', '../x'])
      await expect(create({ image: name })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(noted.asked).toEqual([['guard', 'mine-one']]);
  });

  it('gets no network, and no more than the limits', async () => {
    guard();
    for (const more of [{ network: 'bridge' }, { memoryMb: 257 }, { cpus: 1.1 }])
      await expect(create(more)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(create({ network: 'host' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(noted.created).toEqual([]);
  });

  it('begins nothing that would not end with its evaluation', async () => {
    await expect(create()).rejects.toMatchObject({ code: 'conflict' });
    const over = guard();
    await create();
    over.abort();
    await until('it has ended', () => noted.asked.length === 3);
    expect(noted.asked).toEqual([
      ['guard', 'mine-one'],
      ['sweep', 'mine-one'],
      ['released', 'mine-one'],
    ]);
    await expect(create()).rejects.toMatchObject({ code: 'conflict' });
  });

  it('that is away for too long leaves nothing', async () => {
    guard();
    await create();
    connections.break();
    await until('it has ended', () => noted.asked.length === 3);
    expect(noted.asked.slice(1)).toEqual([
      ['sweep', 'mine-one'],
      ['released', 'mine-one'],
    ]);
  });
});
