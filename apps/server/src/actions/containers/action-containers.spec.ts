import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DockerClient } from '@belay/containers';
import { actionPermissions, actionService } from '@belay/protocol';
import { itLong, sampled, until } from '@belay/testing';
import { Config } from '../../config.js';
import { ContainerDials } from '../../containers/container-dials.js';
import { dockerHostOf } from '../../containers/docker-host-of.js';
import type { EgressService } from '../../egress/egress.service.js';
import type { EventLog } from '../../logs/event-log.js';
import { ContainedPrograms } from '../../programs/contained-programs.js';
import { FakeEngine } from '../../testing/fake-engine.js';
import { PlayedStarters, starterMounts } from '../../testing/played-starters.js';
import { ActionContainers } from './action-containers.js';
import type { ActionRun } from './action-run.js';
import { SessionWorkspaces, type SessionWorkspace } from './session-workspaces.js';

const folder = mkdtempSync(join(tmpdir(), 'belay-run-'));
afterAll(() => rmSync(folder, { recursive: true }));

const opened: ActionContainers[] = [];
afterEach(async () => {
  for (const containers of opened.splice(0)) await containers.beforeApplicationShutdown();
});

function setUp() {
  const engine = new FakeEngine();
  const starters = new PlayedStarters(engine);
  const config = new Config({ BELAY_DATA: '/nowhere/data', XDG_RUNTIME_DIR: folder });
  const host = dockerHostOf(config, engine as unknown as DockerClient);
  const settings = { sandbox: 'hardened' };
  const containers = new ActionContainers(
    config,
    host,
    new ContainedPrograms(host, new ContainerDials(host)),
    {} as EgressService,
    new SessionWorkspaces([
      ['s', workspaceOf('s')],
      ['other', workspaceOf('other')],
    ]),
    { settings: async () => settings } as unknown as EventLog,
  );
  opened.push(containers);
  for (const session of ['s', 'other']) engine.volumeNames.add(`belay-${session}-workspace`);
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
  return { engine, starters, settings, start };
}

/** As of a sandbox that has its container. */
let leave: (() => void) | undefined;
const workspaceOf = (session: string): SessionWorkspace => {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (session === 's') leave = resolve;
  return { files: session, machine: undefined, gone: () => promise };
};

it('gives a call no rights, no network, its secrets and its socket, and removes all at its end', async () => {
  const { engine, starters, start } = setUp();
  const running = await start({ memory_mb: 100 });
  const { spec } = engine.only();
  expect(spec).toMatchObject({
    Image: 'sha256:1',
    User: '0:0',
    Env: expect.arrayContaining(['BELAY_USER=1000']),
    HostConfig: {
      CapDrop: ['ALL'],
      CapAdd: ['SETGID', 'SETUID'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      NetworkMode: 'none',
      PidsLimit: 512,
      Memory: 164 * 2 ** 20,
      LogConfig: { Type: 'none' },
    },
  });
  expect(spec.Env?.join()).not.toContain('KEY');
  expect(spec.HostConfig?.Mounts?.map(({ Target, ReadOnly }) => [Target, ReadOnly])).toEqual(
    starterMounts,
  );
  expect(Object.keys(spec.HostConfig?.Tmpfs ?? {})).toEqual(['/tmp', '/output']);
  expect(starters.programs[0]?.start).toEqual({
    command: ['/action/run', 'red'],
    folder: '/action',
    env: { HOME: '/tmp', KEY: 'k' },
    egress: false,
    services: {},
    output: '/output',
  });
  starters.programs[0]?.end();
  running.input.end();
  for await (const _ of running.output);
  expect(await running.ended).toMatchObject({ code: 0 });
  expect(engine.containers.size).toBe(0);
});

it.each(
  sampled(1, [
    ['read', true],
    ['write', false],
  ] as const),
)('with the workspace to %s mounts that of its session', async (workspace, readOnly) => {
  const { engine, starters, settings, start } = setUp();
  const running = await start({ workspace });
  expect(starters.programs[0]?.start.folder).toBe('/workspace');
  expect(engine.only().spec.HostConfig?.Mounts?.at(-1)).toMatchObject({
    Source: 'belay-s-workspace',
    Target: '/workspace',
    ReadOnly: readOnly,
  });
  await running.stop();
  // Root without rights has no other user’s files, but those of the workspace.
  settings.sandbox = 'root';
  const root = await start({ workspace, warm_seconds: 60 });
  expect(engine.only().spec.Env?.join()).not.toContain('BELAY_USER');
  expect(engine.only().spec.HostConfig).not.toHaveProperty('CapAdd');
  await root.stop();
  expect(engine.containers.size).toBe(0);
});

it.each(
  sampled(1, [
    ['read', 'ro'],
    ['write', 'rw'],
  ]),
)('has an empty workspace to %s without a session', async (workspace, mode) => {
  const { engine, starters, start } = setUp();
  const running = await start({ workspace }, { session: null });
  const { spec } = engine.only();
  expect(starters.programs[0]?.start.folder).toBe('/workspace');
  expect(spec.HostConfig?.Tmpfs?.['/workspace']).toMatch(new RegExp(`^${mode},`));
  expect(spec.HostConfig?.Mounts?.map(({ Target }) => Target)).not.toContain('/workspace');
  await running.stop();
});

it('is refused without the workspace that it declares, and leaves nothing', async () => {
  const { engine, start } = setUp();
  const wants = { workspace: 'read' };
  await expect(start(wants, { session: 'gone' })).rejects.toThrow('no sandbox now');
  engine.volumeNames.clear();
  await expect(start(wants)).rejects.toThrow('not there any more');
  expect(engine.containers.size).toBe(0);
});

describe('with services', () => {
  const service = (port: number) => actionService.parse({ image: 'db:1', port });
  const services = { db: service(5432), cache: service(6379) };

  itLong('shares one loopback with them, and they go with it', async () => {
    const { engine, starters, start } = setUp();
    engine.registry.set('db:1', 'sha256:db');
    const onPulled = jest.fn(() => Promise.resolve());
    const running = await start({}, { onPulled }, services);
    expect(onPulled.mock.calls).toEqual([[{ name: 'db:1', id: 'sha256:db' }]]);
    const made = [...engine.containers.values()];
    const networks = made.map(({ spec }) => spec.HostConfig?.NetworkMode);
    expect(networks).toEqual(['none', `container:${made[0]?.id}`, `container:${made[0]?.id}`]);
    expect(starters.programs[0]?.start.services).toEqual({ db: 5432, cache: 6379 });
    expect(made[0]?.spec.HostConfig?.Mounts?.map(({ Target }) => Target)).toEqual(['/etc/hosts']);
    await running.stop();
    expect(engine.containers.size).toBe(0);
    const same = start({}, {}, { db: service(1), cache: service(1) });
    await expect(same).rejects.toThrow('have the same port');
    expect(engine.containers.size).toBe(0);
  });

  it('fails when one of them writes too much', async () => {
    const { engine, start } = setUp();
    jest.spyOn(engine, 'writtenBytes').mockResolvedValue(2 ** 50);
    const fail = jest.fn();
    const running = await start({}, { fail }, services);
    expect(await running.ended).toEqual({ wroteTooMuch: true });
    expect(fail).toHaveBeenCalledWith(
      expect.objectContaining({ message: expect.stringContaining('BELAY_ACTION_IMAGE_MB') }),
    );
    expect(engine.containers.size).toBe(0);
  });

  it('fails when one of them writes too much before the program begins', async () => {
    const { engine, start } = setUp();
    jest.spyOn(engine, 'writtenBytes').mockResolvedValue(2 ** 50);
    // A starter that has not dialled yet.
    engine.onStart = () => () => {};
    await expect(start({}, {}, services)).rejects.toThrow('BELAY_ACTION_IMAGE_MB');
    expect(engine.containers.size).toBe(0);
  });
});

describe('a warm container', () => {
  const warm = { warm_seconds: 60 };
  /** Each program ends at once, with these ends one after the other, and then with the code 0. */
  const setUpWarm = () => {
    const all = setUp();
    const ends: { code?: number; left?: number }[] = [];
    all.starters.onRun = ({ end }) => end(ends.shift());
    const call = async (more: Partial<ActionRun> = {}) => {
      const running = await all.start(warm, more);
      running.input.end();
      for await (const _ of running.output);
      return running.ended;
    };
    return { ...all, ends, call };
  };

  it('has the next call of its session alone, each with its own arguments and secrets', async () => {
    const { engine, starters, call } = setUpWarm();
    await call();
    await call({ args: ['blue'], secrets: { KEY: 'new' } });
    engine.only();
    expect(starters.programs.map(({ start }) => start)).toMatchObject([
      { command: ['/action/run', 'red'], env: { KEY: 'k' } },
      { command: ['/action/run', 'blue'], env: { KEY: 'new' } },
    ]);
    await call({ session: 'other' });
    expect(engine.containers.size).toBe(2);
    leave?.();
    await until('its end with the session', () => engine.containers.size === 1);
  });

  it('is not there for a second call at the same time, and not kept after a failure or with what is left', async () => {
    const { engine, starters, start, ends, call } = setUpWarm();
    starters.onRun = () => {};
    const first = await start(warm);
    const second = await start(warm);
    expect(engine.containers.size).toBe(2);
    await second.stop();
    starters.programs[0]?.end({ code: 3 });
    first.input.end();
    for await (const _ of first.output);
    expect(await first.ended).toMatchObject({ code: 3 });
    expect(engine.containers.size).toBe(0);
    starters.onRun = ({ end }) => end(ends.shift());
    ends.push({ left: 1 });
    await call();
    expect(engine.containers.size).toBe(0);
    await call();
    expect(engine.containers.size).toBe(1);
  });

  it('goes when a call is stopped, and with its time', async () => {
    const { engine, starters, start, call } = setUpWarm();
    const { onRun } = starters;
    starters.onRun = () => {};
    await (await start(warm)).stop();
    expect(engine.containers.size).toBe(0);
    starters.onRun = onRun;
    const brief = await start({ warm_seconds: 1 });
    // Its time begins with the end of the call.
    const left = brief.ended.then(() => engine.containers.size);
    brief.input.end();
    for await (const _ of brief.output);
    expect(await left).toBe(1);
    await until('its end', () => engine.containers.size === 0);
    await call();
    expect(engine.containers.size).toBe(1);
  });

  it('is replaced when it has ended by itself', async () => {
    const { engine, call } = setUpWarm();
    await call();
    const first = engine.only();
    engine.kill(first);
    await until('its end', () => engine.containers.size === 0);
    await call();
    expect(engine.only().id).not.toBe(first.id);
  });

  it('is of no use to calls without a session, and with services', async () => {
    const { engine, start } = setUpWarm();
    await (await start(warm, { session: null })).stop();
    const service = actionService.parse({ image: 'db:1', port: 1 });
    await (await start(warm, {}, { db: service })).stop();
    expect(engine.containers.size).toBe(0);
  });
});
