import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type DockerClient } from '@belay/containers';
import { AppError, programCalls, programServerCalls } from '@belay/protocol';
import { dialRpc } from '@belay/rpc';
import { itLong, until } from '@belay/testing';
import { Config } from '../config.js';
import { ContainerDials } from '../containers/container-dials.js';
import { dockerHostOf } from '../containers/docker-host-of.js';
import type { EgressService } from '../egress/egress.service.js';
import { FakeEngine } from '../testing/fake-engine.js';
import { PlayedStarters, starterMounts } from '../testing/played-starters.js';
import { ContainedPrograms } from './contained-programs.js';
import { McpPrograms } from './mcp-programs.js';
import type { ContainedProgram } from './program.js';

const program: ContainedProgram = {
  name: 'tools',
  command: 'serve',
  args: ['--fast'],
  env: { TOKEN: 'x' },
  image: null,
  folder: null,
  hosts: [],
};

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'belay-run-')));
afterAll(() => rmSync(folder, { recursive: true }));

function setUp() {
  const engine = new FakeEngine();
  const starters = new PlayedStarters(engine);
  const config = new Config({
    BELAY_DATA: '/nowhere/data',
    BELAY_MEMORY_MB: '4096',
    XDG_RUNTIME_DIR: folder,
  });
  const host = dockerHostOf(config, engine as unknown as DockerClient);
  const egress = {
    connectProgram: async (_: unknown, { host: to }: { host: string }) => {
      if (to !== 'api.example') throw new AppError('rejected', `${to} is none of its hosts.`);
      return (stream: Duplex) => void stream.pipe(stream);
    },
  } as unknown as EgressService;
  const contained = new ContainedPrograms(host, new ContainerDials(host));
  const programs = new McpPrograms(config, host, contained, egress);
  const abort = new AbortController();
  const run = (more: Partial<ContainedProgram> = {}) =>
    programs.run({ ...program, ...more }, abort.signal);
  return { engine, starters, abort, run };
}
const gone = (engine: FakeEngine) => () => engine.containers.size === 0;
const mounted = (engine: FakeEngine) =>
  engine.only().spec.HostConfig?.Mounts?.map(({ Target, ReadOnly }) => [Target, ReadOnly]);

it('gives a program no rights, no network, no files and only its own variables', async () => {
  const { engine, starters, run } = setUp();
  const running = await run();
  const { spec } = engine.only();
  expect(spec).toMatchObject({
    name: 'belay-mcp-tools',
    Image: 'belay/sandbox:latest',
    // The starter, which no program of another user can touch.
    User: '0:0',
    Entrypoint: expect.arrayContaining(['/opt/belay/contained.cjs']),
    Cmd: [],
    NetworkDisabled: true,
    HostConfig: {
      CapDrop: ['ALL'],
      CapAdd: ['SETGID', 'SETUID'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      NetworkMode: 'none',
      Memory: (1024 + 64) * 2 ** 20,
      PidsLimit: 512,
      LogConfig: { Type: 'none' },
    },
  });
  expect(spec.HostConfig).not.toHaveProperty('Binds');
  expect(mounted(engine)).toEqual(starterMounts);
  // Variables of a container can be read by all of its programs.
  expect(spec.Env).toContain('BELAY_USER=1000');
  expect(spec.Env?.join()).not.toContain('TOKEN');
  expect(starters.programs.map(({ start }) => start)).toEqual([
    {
      command: ['serve', '--fast'],
      folder: '/tmp',
      env: {
        HOME: '/tmp',
        npm_config_offline: 'true',
        UV_OFFLINE: '1',
        PIP_NO_INDEX: '1',
        TOKEN: 'x',
      },
      egress: false,
      services: {},
      output: null,
    },
  ]);
  await running.stop();
  expect(gone(engine)()).toBe(true);
});

it('that ends by itself is removed, and what it printed and how it ended is known', async () => {
  const { engine, starters, run } = setUp();
  const running = await run();
  starters.programs[0]?.print('out');
  starters.programs[0]?.print('oh', true);
  starters.programs[0]?.end({ code: 127 });
  const printed: string[] = [];
  for await (const { isError, data } of running.output)
    printed.push(`${isError}: ${data.toString()}`);
  expect(printed).toEqual(['false: out', 'true: oh']);
  expect(await running.ended).toEqual({ code: 127, outOfMemory: false });
  expect(gone(engine)()).toBe(true);
});

it('whose container ends has no exit code, but maybe a reason', async () => {
  const { engine, run } = setUp();
  const running = await run();
  engine.kill(engine.only(), { code: 137, outOfMemory: true });
  for await (const piece of running.output) expect(piece).toBeUndefined();
  expect(await running.ended).toEqual({ outOfMemory: true });
  expect(gone(engine)()).toBe(true);
});

itLong('that does not heed the end of its input is killed', async () => {
  const { engine, starters, run } = setUp();
  starters.onRun = () => {};
  const running = await run();
  await running.stop();
  expect(gone(engine)()).toBe(true);
});

it('leaves nothing when its container cannot be started, or not run it', async () => {
  const { engine, starters, run } = setUp();
  engine.fail('start');
  await expect(run()).rejects.toThrow('Docker does not respond.');
  expect(gone(engine)()).toBe(true);
  starters.refusal = new AppError('conflict', 'Not here.');
  await expect(run()).rejects.toThrow('Not here.');
  expect(gone(engine)()).toBe(true);
});

it('is not waited for when its container ends before it dials', async () => {
  const { engine, run } = setUp();
  engine.onStart = (container) => {
    container.state = 'exited';
    queueMicrotask(() => engine.kill(container, { code: 1, error: 'no such file' }));
    return () => {};
  };
  await expect(run()).rejects.toThrow('no such file');
  expect(gone(engine)()).toBe(true);
});

it('is given up at once when nobody wants it any more, and what was made is removed', async () => {
  const { engine, abort, run } = setUp();
  const held = engine.hold('start');
  const running = run();
  await held.reached;
  abort.abort(new Error('turned off'));
  await expect(running).rejects.toThrow('turned off');
  held.release();
  await until('the removal', gone(engine));
});

itLong(
  'reaches its hosts through its starter and nothing else, and nobody takes its files',
  async () => {
    const { engine, starters, run } = setUp();
    const running = await run({ hosts: ['api.example'] });
    expect(mounted(engine)).toEqual(starterMounts);
    const [{ start, starter } = { start: undefined, starter: undefined }] = starters.programs;
    expect(start).toMatchObject({ egress: true, env: { HOME: '/tmp', TOKEN: 'x' } });
    const stream = await starter?.open('egress', { host: 'api.example', port: 443 });
    stream?.end('hello');
    expect(stream && (await text(stream))).toBe('hello');
    await expect(starter?.open('egress', { host: 'other.example', port: 443 })).rejects.toThrow(
      'other.example is none of its hosts.',
    );
    await expect(starter?.open('files', {})).rejects.toMatchObject({ code: 'forbidden' });
    const one = async () => starter?.open('egress', { host: 'api.example', port: 443 });
    const many = await Promise.allSettled(Array.from({ length: 300 }, one));
    const open = many.filter(({ status }) => status === 'fulfilled');
    // The first one may still be closing.
    expect([255, 256]).toContain(open.length);
    await running.stop();
  },
);

it('cannot dial in itself, in the place of its starter or beside it', async () => {
  const { engine, run } = setUp();
  const running = await run({ hosts: ['api.example'] });
  const socket = engine.only().spec.HostConfig?.Mounts?.[1]?.Source;
  const intruder = dialRpc({
    address: `unix:${socket}/agent.sock`,
    serves: programCalls,
    calls: programServerCalls,
  });
  const opened = intruder.open('egress', { host: 'api.example', port: 443 });
  await expect(opened).rejects.toMatchObject({ code: 'forbidden' });
  await running.stop();
});

it('gets the folder that was checked, without links', async () => {
  const { engine, starters, run } = setUp();
  const shared = mkdtempSync(join(folder, 'shared-'));
  // Nobody else may exchange it; its identity is compared after the start.
  const running = await run({ folder: shared });
  expect(mounted(engine)).toEqual([...starterMounts, [shared, true]]);
  expect(starters.programs[0]?.start.folder).toBe(shared);
  await running.stop();
  await expect(run({ folder: '/proc' })).rejects.toThrow('files of the system or of Belay');
});
