import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { LiveConnection } from '@belay/client';
import { isEnded } from '@belay/protocol';
import { BelayServer, prepared, script, SecondEngine } from '@belay/testkit';
import { breakingProxy, type BreakingProxy } from '../breaking-proxy.ts';
import { copyRuntime } from '../copy-runtime.ts';
import { runProgram } from '../prepare/run-program.mjs';
import { countingTurns, Witness } from './witness.ts';

export interface Size {
  sessions: number;
  /** Steps of each session. */
  steps: number;
}

interface Intercepted {
  /** The inode of the proxy’s socket; a socket with another one is the server’s. */
  inode: number | undefined;
  proxy: BreakingProxy | undefined;
}

/** Size of the file system for the server’s data, which is small enough to be filled. */
const diskMib = 192;

/**
 * A server with its own disk and its own Docker Engine, agents that count, and a viewer for each of
 * them. All connections go through proxies that can break. Requires root.
 */
export class World {
  static async open(folder: string, { sessions, steps }: Size): Promise<World> {
    const engine = await SecondEngine.start();
    const world = new World(folder, engine);
    try {
      await world.#open(sessions, steps);
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  readonly clock: string;
  readonly disk: string;
  readonly witnesses: Witness[] = [];
  readonly engine: SecondEngine;
  #server: BelayServer | undefined;
  #viewer: LiveConnection | undefined;
  #looking: NodeJS.Timeout | undefined;
  #viewers: BreakingProxy | undefined;
  readonly #intercepted = new Map<string, Intercepted>();
  readonly #runtime: string;

  private constructor(folder: string, engine: SecondEngine) {
    this.engine = engine;
    this.clock = join(folder, 'clock');
    this.disk = join(folder, 'disk');
    this.#runtime = join(folder, 'run');
  }

  get viewer(): LiveConnection {
    if (!this.#viewer) throw new Error('There is no viewer yet.');
    return this.#viewer;
  }

  get server(): BelayServer {
    if (!this.#server) throw new Error('There is no server yet.');
    return this.#server;
  }

  /** The proxies of the viewers' or the agents' connections. */
  proxies(of: 'viewers' | 'agents'): BreakingProxy[] {
    if (of === 'viewers') return this.#viewers ? [this.#viewers] : [];
    return [...this.#intercepted.values()].flatMap(({ proxy }) => proxy ?? []);
  }

  /** Restarts ended sessions that did not finish, as their user would. */
  async restartFallen(): Promise<void> {
    for (const { id } of this.witnesses) {
      const summary = await this.server.client.sessions.get(id).catch(() => undefined);
      if (summary && isEnded(summary.state) && summary.state !== 'finished')
        await this.server.client.sessions.restart(id).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    this.#viewer?.close();
    this.#viewers?.close();
    for (const proxy of this.proxies('agents')) proxy.close();
    await this.#server?.end('SIGKILL');
    await this.engine.dispose();
    await runProgram('umount', ['--lazy', this.disk]);
  }

  async #open(sessions: number, steps: number): Promise<void> {
    for (const path of [this.disk, this.#runtime]) mkdirSync(path);
    writeFileSync(this.clock, '0');
    await runProgram('mount', [
      '-t',
      'tmpfs',
      '-o',
      `size=${diskMib}m,mode=700`,
      'tmpfs',
      this.disk,
    ]);
    const image = prepared('BELAY_TEST_DEBIAN');
    await this.engine.copyImage(image);
    process.env['TMPDIR'] = this.disk;
    this.#server = new BelayServer({
      DOCKER_HOST: this.engine.host,
      BELAY_IMAGE: image,
      BELAY_RUNTIME: await copyRuntime(this.engine, prepared('BELAY_RUNTIME')),
      BELAY_LOG_LEVEL: 'warn',
      // The disk is smaller than the default of 200.
      BELAY_KEEP_FREE_MB: '16',
      XDG_RUNTIME_DIR: this.#runtime,
      BELAY_FAULTS_CLOCK: this.clock,
      NODE_OPTIONS: `--require ${join(import.meta.dirname, 'clock.cjs')}`,
    });
    delete process.env['TMPDIR'];
    await this.server.start();
    this.#looking = setInterval(() => void this.#intercept(), 1);
    this.#viewers = await breakingProxy(Number(new URL(this.server.url).port), 0);
    this.#viewer = new LiveConnection({ url: this.#viewers.url, token: this.server.token });
    for (let n = 0; n < sessions; n++) this.witnesses.push(await this.#start(steps));
  }

  async #start(steps: number): Promise<Witness> {
    const model = script(this.server.data, countingTurns(steps));
    const asked = { task: 'Count', model, approvals: 'auto' as const };
    const { id } = await this.server.client.sessions.create(asked);
    return new Witness(id, steps, this.viewer);
  }

  /** Replaces each agent’s socket by a proxy whenever the server listens on it. */
  async #intercept(): Promise<void> {
    for (const socket of agentSockets(this.#runtime)) {
      const known = this.#intercepted.get(socket);
      if (inodeOf(socket) === known?.inode) continue;
      const real = `${socket}-real`;
      try {
        renameSync(socket, real);
      } catch {
        // The server has removed the socket meanwhile.
        continue;
      }
      // Closing the old proxy removes the socket’s path, so it must follow the rename of the
      // server’s socket.
      known?.proxy?.close();
      this.#intercepted.set(socket, { inode: undefined, proxy: undefined });
      const proxy = await breakingProxy(real, socket);
      this.#intercepted.set(socket, { inode: inodeOf(socket), proxy });
    }
  }
}

/**
 * The paths of the sandboxes’ sockets. The server prepares each in a sibling folder whose name
 * begins with `~`.
 */
function agentSockets(runtime: string): string[] {
  const instances = foldersIn(join(runtime, 'belay'));
  const sandboxes = instances.flatMap(foldersIn).filter((path) => !basename(path).startsWith('~'));
  return sandboxes.map((path) => join(path, 'agent.sock'));
}

/** Empty for a folder that the server has just removed. */
function foldersIn(path: string): string[] {
  try {
    return readdirSync(path).map((name) => join(path, name));
  } catch {
    return [];
  }
}

/** Undefined while the server is creating the socket. */
function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
