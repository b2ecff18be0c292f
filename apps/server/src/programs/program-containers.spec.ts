import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type DockerClient } from '@belay/containers';
import { AppError } from '@belay/protocol';
import { until } from '@belay/testing';
import { Config } from '../config.js';
import type { EgressService } from '../egress/egress.service.js';
import { FakeEngine } from '../testing/fake-engine.js';
import { ProgramContainers } from './program-containers.js';
import { ProgramSockets } from './program-sockets.js';
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

/** The engine’s side: ends when its input does, unless it is stubborn. */
class Attached extends Duplex {
  constructor(private readonly stubborn = false) {
    super({ allowHalfOpen: false });
  }
  override _read(): void {}
  override _write(_: Buffer, __: string, done: () => void): void {
    done();
  }
  override _final(done: () => void): void {
    done();
    if (!this.stubborn) this.push(null);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'belay-run-'));
afterAll(() => rmSync(folder, { recursive: true }));

function setUp(stubborn = false) {
  const engine = new FakeEngine();
  const attached = new Attached(stubborn);
  engine.onAttach = () => attached;
  const config = new Config({
    BELAY_DATA: '/nowhere/data',
    BELAY_MEMORY_MB: '4096',
    XDG_RUNTIME_DIR: folder,
  });
  const docker = engine as unknown as DockerClient;
  const egress = {
    connectProgram: async (_: unknown, { host }: { host: string }) => {
      if (host !== 'api.example') throw new AppError('rejected', `${host} is none of its hosts.`);
      return (stream: Duplex) => void stream.pipe(stream);
    },
  } as unknown as EgressService;
  const sockets = new ProgramSockets(config);
  const programs = new ProgramContainers(config, docker, egress, sockets);
  const abort = new AbortController();
  const run = (more: Partial<ContainedProgram> = {}) =>
    programs.run({ ...program, ...more }, abort.signal);
  return { engine, attached, abort, run };
}
const gone = (engine: FakeEngine) => () => engine.containers.size === 0;

it('gives a program no rights, no network, no files and only its own variables', async () => {
  const { engine, run } = setUp();
  const running = await run();
  const { spec } = engine.only();
  expect(spec).toMatchObject({
    name: 'belay-mcp-tools',
    Image: 'belay/sandbox:latest',
    User: '1000:1000',
    Entrypoint: ['serve'],
    Cmd: ['--fast'],
    OpenStdin: true,
    StdinOnce: true,
    HostConfig: {
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      NetworkMode: 'none',
      Memory: 1024 * 2 ** 20,
      PidsLimit: 512,
      LogConfig: { Type: 'none' },
      Mounts: [],
    },
  });
  expect(spec.HostConfig).not.toHaveProperty('CapAdd');
  expect(spec.HostConfig).not.toHaveProperty('Binds');
  expect(spec.Env?.map((one) => one.split('=')[0])).toEqual([
    'HOME',
    'npm_config_offline',
    'UV_OFFLINE',
    'PIP_NO_INDEX',
    'TOKEN',
  ]);
  await running.stop();
  expect(gone(engine)()).toBe(true);
});

it('that ends by itself is removed, and how it ended is known', async () => {
  const { engine, attached, run } = setUp();
  const running = await run();
  engine.kill(engine.only(), { code: 127 });
  attached.push(null);
  for await (const piece of running.output) expect(piece).toBeUndefined();
  expect(await running.ended).toMatchObject({ code: 127 });
  expect(gone(engine)()).toBe(true);
});

it('that does not heed the end of its input is killed', async () => {
  const { engine, run } = setUp(true);
  const running = await run();
  await running.stop();
  expect(gone(engine)()).toBe(true);
});

it.each(['attach', 'start'] as const)('leaves nothing when %s fails', async (method) => {
  const { engine, attached, run } = setUp();
  engine.fail(method);
  await expect(run()).rejects.toThrow('Docker does not respond.');
  expect(gone(engine)()).toBe(true);
  if (method === 'start') expect(attached.destroyed).toBe(true);
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

it('reaches its hosts by a socket of its own, which is all that is mounted, and nothing else', async () => {
  const { engine, run } = setUp();
  const running = await run({ hosts: ['api.example'] });
  const { spec } = engine.only();
  expect(spec).toMatchObject({
    Entrypoint: ['/opt/belay/node', '/opt/belay/contained.cjs'],
    Cmd: ['serve', '--fast'],
    HostConfig: { NetworkMode: 'none' },
  });
  expect(spec.HostConfig?.Mounts?.map(({ Target, ReadOnly }) => [Target, ReadOnly])).toEqual([
    ['/opt/belay', true],
    ['/run/belay', true],
    ['/etc/hosts', true],
  ]);
  const socketFolder = spec.HostConfig?.Mounts?.[1]?.Source ?? '';
  const ask = async (request: string, more = '') => {
    const socket = connect(join(socketFolder, 'server.sock'));
    socket.write(`${request}\n`);
    socket.end(more);
    return text(socket);
  };
  const to = (host: string) => JSON.stringify({ kind: 'connect', host, port: 443 });
  expect(await ask(to('api.example'), 'hello')).toBe('{"error":null}\nhello');
  expect(await ask(to('other.example'), 'hello')).toContain('other.example is none of its hosts.');
  expect(await ask('{"kind":"connect"}')).toContain('cannot be read');
  expect(await ask('{"kind":"output"}')).toContain('Requests of this program are refused');
  expect(await ask('x'.repeat(2_000))).toContain('too long');
  await running.stop();
  await until('the removal of the socket', () => !existsSync(socketFolder));
});
