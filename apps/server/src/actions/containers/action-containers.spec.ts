import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { DockerClient, DockerHost, ExecutedProgram } from '@belay/containers';
import { actionPermissions, actionService } from '@belay/protocol';
import { until } from '@belay/testing';
import { ActionContainers } from './action-containers.js';
import type { ActionRun } from './action-run.js';
import { Config } from '../../config.js';
import type { EgressService } from '../../egress/egress.service.js';
import { FakeEngine } from '../../testing/fake-engine.js';
import { ProgramSockets } from '../../programs/program-sockets.js';
import { SessionWorkspaces, type SessionWorkspace } from './session-workspaces.js';

const folder = mkdtempSync(join(tmpdir(), 'belay-run-'));
afterAll(() => rmSync(folder, { recursive: true }));

const opened: ActionContainers[] = [];
afterEach(async () => {
  for (const containers of opened.splice(0)) await containers.beforeApplicationShutdown();
});

function setUp() {
  const engine = new FakeEngine();
  const attached = new PassThrough();
  engine.onAttach = () => attached;
  const config = new Config({ BELAY_DATA: '/nowhere/data', XDG_RUNTIME_DIR: folder });
  const docker = engine as unknown as DockerClient;
  const egress = {} as EgressService;
  const sockets = new ProgramSockets(config);
  const workspaces = new SessionWorkspaces();
  const host: Pick<DockerHost, 'agentOf'> = {
    agentOf: async (id) => {
      const workspace = `${id}-workspace`;
      return { container: 'c', name: id, user: '1000:1000', workspace };
    },
  };
  const containers = new ActionContainers(
    config,
    docker,
    host as DockerHost,
    egress,
    sockets,
    workspaces,
  );
  opened.push(containers);
  const start = (permissions: object = {}, more: Partial<ActionRun> = {}, services = {}) =>
    containers.start(
      {
        name: 'paint',
        session: 's',
        args: ['red'],
        secrets: { KEY: 'k' },
        program: {
          image: 'sha256:1',
          command: ['/action/run'],
          services,
          permissions: actionPermissions.parse(permissions),
        },
        onRefused: () => {},
        onPulled: () => Promise.resolve(),
        fail: () => {},
        takeFiles: (stream) => stream.destroy(),
        ...more,
      },
      new AbortController().signal,
    );
  return { engine, attached, workspaces, start };
}

/** As of a sandbox that has its container. */
const workspaceOf = (session: string, more: Partial<SessionWorkspace> = {}): SessionWorkspace => ({
  id: session,
  machine: undefined,
  gone: () => Promise.withResolvers<void>().promise,
  ...more,
});

it('gives a call no rights, no network, its secrets and its socket, and removes all at its end', async () => {
  const { engine, attached, start } = setUp();
  const running = await start({ memory_mb: 100 });
  const { spec } = engine.only();
  expect(spec).toMatchObject({
    Image: 'sha256:1',
    User: '1000:1000',
    WorkingDir: '/action',
    Entrypoint: ['/opt/belay/node', '/opt/belay/contained.cjs'],
    Cmd: ['/action/run', 'red'],
    Env: ['HOME=/tmp', 'KEY=k', expect.stringContaining('"egress":false')],
    HostConfig: {
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      NetworkMode: 'none',
      PidsLimit: 512,
      Memory: 164 * 2 ** 20,
      LogConfig: { Type: 'none' },
    },
  });
  expect(spec.HostConfig).not.toHaveProperty('CapAdd');
  expect(spec.HostConfig?.Mounts?.map(({ Target, ReadOnly }) => [Target, ReadOnly])).toEqual([
    ['/opt/belay', true],
    ['/run/belay', true],
    ['/etc/hosts', true],
  ]);
  attached.end().destroy();
  await running.ended;
  expect(engine.containers.size).toBe(0);
});

it.each([
  ['read', true],
  ['write', false],
] as const)('with the workspace to %s mounts that of its session', async (workspace, readOnly) => {
  const { engine, workspaces, start } = setUp();
  workspaces.set('s', workspaceOf('s'));
  const running = await start({ workspace });
  const { spec } = engine.only();
  expect(spec.WorkingDir).toBe('/workspace');
  expect(spec.HostConfig?.Mounts?.at(-1)).toMatchObject({
    Source: 's-workspace',
    Target: '/workspace',
    ReadOnly: readOnly,
  });
  await running.stop();
});

it.each([
  ['read', 'ro'],
  ['write', 'rw'],
])('has an empty workspace to %s without a session', async (workspace, mode) => {
  const { engine, start } = setUp();
  const running = await start({ workspace }, { session: null });
  const { spec } = engine.only();
  expect(spec.WorkingDir).toBe('/workspace');
  expect(spec.HostConfig?.Tmpfs?.['/workspace']).toMatch(new RegExp(`^${mode},`));
  expect(spec.HostConfig?.Mounts?.map(({ Target }) => Target)).not.toContain('/workspace');
  await running.stop();
});

it('is refused without the workspace that it declares, and leaves nothing', async () => {
  const { engine, workspaces, start } = setUp();
  const wants = { workspace: 'read' };
  await expect(start(wants)).rejects.toThrow('no sandbox now');
  workspaces.set('s', workspaceOf('s', { machine: 'm' }));
  await expect(start(wants)).rejects.toThrow('on a joined machine');
  expect(engine.containers.size).toBe(0);
});

it('shares one loopback with its services, which go with it', async () => {
  const { engine, attached, start } = setUp();
  const service = (port: number) => actionService.parse({ image: 'db:1', port });
  engine.registry.set('db:1', 'sha256:db');
  const onPulled = jest.fn(() => Promise.resolve());
  const running = await start({}, { onPulled }, { db: service(5432), cache: service(6379) });
  expect(onPulled.mock.calls).toEqual([[{ name: 'db:1', id: 'sha256:db' }]]);
  const made = [...engine.containers.values()];
  const networks = made.map(({ spec }) => spec.HostConfig?.NetworkMode);
  expect(networks).toEqual(['none', `container:${made[0]?.id}`, `container:${made[0]?.id}`]);
  expect(made[2]?.spec.Env?.at(-1)).toContain('{"db":5432,"cache":6379}');
  expect(made[0]?.spec.HostConfig?.Mounts?.map(({ Target }) => Target)).toEqual(['/etc/hosts']);
  attached.end().destroy();
  await running.ended;
  expect(engine.containers.size).toBe(0);
  const same = start({}, {}, { db: service(1), cache: service(1) });
  await expect(same).rejects.toThrow('have the same port');
  await until('the removal', () => engine.containers.size === 0);
});

describe('a warm container', () => {
  const warm = { warm_seconds: 60 };
  /** Sessions `s` and `other` have workspaces, `s` until `leave`; each process ends with the code that is given last. */
  const setUpWarm = () => {
    const { engine, workspaces, start } = setUp();
    engine.onAttach = () => {
      const stream = new PassThrough();
      return stream.once('finish', () => stream.destroy());
    };
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    workspaces.set('s', workspaceOf('s', { gone: () => left }));
    workspaces.set('other', workspaceOf('other'));
    const processes: { process: ExecutedProgram; end(code: number): void }[] = [];
    engine.onExec = (process) => {
      const stream = new PassThrough();
      let exit = 0;
      const end = (code: number): void => {
        exit = code;
        stream.end().destroy();
      };
      processes.push({ process, end });
      return { output: stream, exitCode: () => Promise.resolve(exit) };
    };
    const call = async (more: Partial<ActionRun> = {}, code = 0) => {
      const running = await start(warm, more);
      processes.at(-1)?.end(code);
      return running.ended;
    };
    return { engine, leave, start, processes, call };
  };

  it('has the next call of its session alone, each a process with its own arguments and secrets', async () => {
    const { engine, processes, call, leave } = setUpWarm();
    await call();
    await call({ args: ['blue'], secrets: { KEY: 'new' } });
    const { spec } = engine.only();
    expect(spec).toMatchObject({ User: '0:0', Cmd: [], Env: ['BELAY_PROGRAM="idle"'] });
    expect(spec.HostConfig).toMatchObject({ CapDrop: ['ALL'], ReadonlyRootfs: true });
    expect(processes.map(({ process }) => process)).toMatchObject([
      { user: '1000:1000', command: expect.arrayContaining(['/action/run', 'red']) },
      { env: ['HOME=/tmp', 'KEY=new', expect.stringContaining('"stays":true')] },
    ]);
    await call({ session: 'other' });
    expect(engine.containers.size).toBe(2);
    leave();
    await until('its end with the session', () => engine.containers.size === 1);
  });

  it('is not there for a second call at the same time, and not kept after a failure or with what is left', async () => {
    const { engine, start, processes, call } = setUpWarm();
    const first = await start(warm);
    const second = await start(warm);
    expect(engine.containers.size).toBe(2);
    expect(processes).toHaveLength(1);
    await second.stop();
    processes[0]?.end(3);
    expect(await first.ended).toEqual({ code: 3 });
    expect(engine.containers.size).toBe(0);
    jest.spyOn(engine, 'processes').mockResolvedValueOnce(3);
    await call();
    expect(engine.containers.size).toBe(0);
    await call();
    expect(engine.containers.size).toBe(1);
  });

  it('goes when a call is stopped, and with its time', async () => {
    const { engine, start, processes, call } = setUpWarm();
    await (await start(warm)).stop();
    expect(engine.containers.size).toBe(0);
    const brief = await start({ warm_seconds: 1 });
    processes.at(-1)?.end(0);
    await brief.ended;
    expect(engine.containers.size).toBe(1);
    await until('its end', () => engine.containers.size === 0);
    await call();
    expect(engine.containers.size).toBe(1);
  });

  it('is of no use to calls without a session, and with services', async () => {
    const { engine, start, processes } = setUpWarm();
    await (await start(warm, { session: null })).stop();
    const service = actionService.parse({ image: 'db:1', port: 1 });
    await (await start(warm, {}, { db: service })).stop();
    expect(processes).toEqual([]);
    expect(engine.containers.size).toBe(0);
  });
});
