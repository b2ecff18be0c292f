import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Dockerode from 'dockerode';
import { findCommand } from './prepare/debian.mjs';
import { Docker } from './prepare/docker-api.mjs';
import { prepareRuntime } from './prepare/images.mjs';
import { runProgram } from './prepare/run-program.mjs';

const programs = ['dockerd', 'containerd', 'unshare'] as const;
type Program = (typeof programs)[number];

/**
 * A second Docker Engine beside the machine’s, with `live-restore` and a containerd that outlives
 * it, as under systemd: its dockerd can be killed without ending other work. Requires root,
 * dockerd, containerd and unshare.
 */
export class SecondEngine {
  /** With the programs of this machine, or others in their place. */
  static async start(others: Partial<Record<Program, string>> = {}): Promise<SecondEngine> {
    const found = programs.flatMap((name) => others[name] ?? findCommand(name) ?? []);
    const [dockerd, containerd, unshare] = found;
    if (process.getuid?.() !== 0 || !dockerd || !containerd || !unshare)
      throw new Error('a second Docker Engine needs root, dockerd, containerd and unshare');
    const engine = new SecondEngine({ dockerd, containerd, unshare });
    try {
      await engine.#startContainerd();
      await engine.startDockerd();
      return engine;
    } catch (error) {
      await engine.dispose();
      throw error;
    }
  }

  readonly #folder = mkdtempSync(join(tmpdir(), 'belay-engine-'));
  readonly host = `unix://${this.#path('docker.sock')}`;
  readonly #api = new Docker(this.host);
  readonly #docker = new Dockerode({ socketPath: this.#path('docker.sock') });
  readonly #paths: Record<Program, string>;
  #containerd: ChildProcess | undefined;
  #dockerd: ChildProcess | undefined;

  constructor(paths: Record<Program, string>) {
    this.#paths = paths;
  }

  /** Resolves once dockerd answers. */
  async startDockerd(): Promise<void> {
    // A killed dockerd leaves its pid file behind, and a new one would refuse to start.
    rmSync(this.#path('docker.pid'), { force: true });
    writeFileSync(this.#path('daemon.json'), '{}');
    const more = ['--host', this.host, '--live-restore', '--bridge=none', '--iptables=false'];
    this.#dockerd = this.#run(
      'dockerd',
      [
        ['config-file', 'daemon.json'],
        ['containerd', 'containerd.sock'],
        ['data-root', 'data'],
        ['exec-root', 'exec'],
        ['pidfile', 'docker.pid'],
      ],
      more,
    );
    await this.#answering('dockerd', this.#dockerd, () => this.#api.ping(500));
  }

  async killDockerd(): Promise<void> {
    if (this.#dockerd) await end(this.#dockerd, 'SIGKILL');
  }

  /** Copies an image from the machine’s engine. */
  async copyImage(name: string): Promise<void> {
    const image = await new Dockerode().getImage(name).get();
    const progress = await this.#docker.loadImage(image, { quiet: true });
    progress.resume();
    await once(progress, 'end');
  }

  /** Copies the agent’s runtime from the machine’s engine; returns the volume’s name. */
  async copyRuntime(volume: string): Promise<string> {
    await this.copyImage(volume.replace(/^belay-runtime-(\w+).*$/, 'belay/runtime:$1'));
    return prepareRuntime(this.#api, () => {});
  }

  /** The pid of the main process of a session’s container, in the machine’s numbering. */
  async pidOf(session: string): Promise<number> {
    const filters = { label: [`belay.session=${session}`] };
    const [container] = await this.#docker.listContainers({ filters });
    if (!container) throw new Error(`Session ${session} has no container.`);
    return (await this.#docker.getContainer(container.Id).inspect()).State.Pid;
  }

  /** The number of containers and volumes. */
  async inventory(): Promise<number> {
    const { Volumes } = await this.#docker.listVolumes();
    return (await this.#docker.listContainers({ all: true })).length + (Volumes ?? []).length;
  }

  /** Ends the engine, and removes everything in it. */
  async dispose(): Promise<void> {
    if (this.#dockerd) {
      const containers = await this.#docker.listContainers({ all: true }).catch(() => []);
      for (const { Id } of containers)
        await this.#docker
          .getContainer(Id)
          .remove({ force: true })
          .catch(() => {});
      await end(this.#dockerd, 'SIGTERM');
    }
    if (this.#containerd) await end(this.#containerd, 'SIGTERM');
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((path) => path.startsWith(`${this.#folder}/`));
    for (const path of mounts.reverse()) await runProgram('umount', ['--lazy', path]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #startContainerd(): Promise<void> {
    writeFileSync(
      this.#path('containerd.toml'),
      'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n',
    );
    this.#containerd = this.#run('containerd', [
      ['config', 'containerd.toml'],
      ['address', 'containerd.sock'],
      ['root', 'containerd'],
      ['state', 'containerd-state'],
    ]);
  }

  #run(name: Program, paths: [flag: string, file: string][], more: string[] = []): ChildProcess {
    const log = openSync(this.#path(`${name}.log`), 'a');
    const flags = paths.flatMap(([flag, path]) => [`--${flag}`, this.#path(path)]);
    // Runs in a separate network namespace, because a dockerd without a bridge removes an existing
    // one.
    const command = ['--net', '--', this.#paths[name], ...flags, ...more];
    const child = spawn(this.#paths.unshare, command, { stdio: ['ignore', log, log] });
    closeSync(log);
    return child;
  }

  async #answering(
    name: Program,
    child: ChildProcess,
    ping: () => Promise<unknown>,
  ): Promise<void> {
    const deadline = Date.now() + 60_000;
    for (;;) {
      if (
        await ping().then(
          () => true,
          () => false,
        )
      )
        return;
      if (child.exitCode !== null || Date.now() > deadline) {
        const log = readFileSync(this.#path(`${name}.log`), 'utf8')
          .trim()
          .split('\n');
        throw new Error(`the second ${name} does not answer: ${log.at(-1)}`);
      }
      await delay(50);
    }
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
