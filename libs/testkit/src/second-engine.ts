import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ignoreError } from '@belay/protocol';
import { until } from '@belay/testing';
import Dockerode from 'dockerode';

export interface SecondEngineOptions {
  /** Another program in the place of this machine’s. */
  dockerd?: string;
}

const startTimeoutMs = 60_000;
const pingTimeoutMs = 500;

/**
 * A second Docker Engine beside the machine’s, with a containerd that outlives it, as under systemd: its dockerd can be
 * killed without ending other work. Requires root, dockerd, containerd and unshare.
 */
export class SecondEngine {
  static async start(options: SecondEngineOptions = {}): Promise<SecondEngine> {
    const engine = new SecondEngine(options);
    try {
      engine.#startContainerd();
      await engine.startDockerd();
      return engine;
    } catch (error) {
      await engine.dispose();
      throw error;
    }
  }

  readonly #folder = mkdtempSync(join(tmpdir(), 'belay-engine-'));
  readonly host = `unix://${this.#path('docker.sock')}`;
  readonly #docker = new Dockerode({ socketPath: this.#path('docker.sock') });
  readonly #options: SecondEngineOptions;
  #containerd: ChildProcess | undefined;
  #dockerd: ChildProcess | undefined;

  private constructor(options: SecondEngineOptions) {
    if (process.getuid?.() !== 0) throw new Error('A second Docker Engine needs root.');
    this.#options = options;
  }

  /** Resolves once dockerd answers. Containers that run go on, or this start ends them. */
  async startDockerd({ liveRestore = true } = {}): Promise<void> {
    const { dockerd: program = 'dockerd' } = this.#options;
    // A killed dockerd leaves its pid file behind, and a new one would refuse to start.
    rmSync(this.#path('docker.pid'), { force: true });
    writeFileSync(this.#path('daemon.json'), '{}');
    const dockerd = this.#run(program, {
      log: 'dockerd.log',
      paths: [
        ['config-file', 'daemon.json'],
        ['containerd', 'containerd.sock'],
        ['data-root', 'data'],
        ['exec-root', 'exec'],
        ['pidfile', 'docker.pid'],
      ],
      more: [
        '--host',
        this.host,
        '--bridge=none',
        '--iptables=false',
        `--live-restore=${liveRestore}`,
      ],
    });
    this.#dockerd = dockerd;
    const pinging = new Dockerode({
      socketPath: this.#path('docker.sock'),
      timeout: pingTimeoutMs,
    });
    const log = () => readFileSync(this.#path('dockerd.log'), 'utf8').slice(-2_000);
    const answers = () => {
      if (dockerd.exitCode !== null) throw new Error(`The second dockerd ended:\n${log()}`);
      return pinging.ping().then(() => true, ignoreError('it is starting'));
    };
    const options = { timeoutMs: startTimeoutMs, intervalMs: 50, state: log };
    await until('the second Docker Engine answers', answers, options);
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
      // Containers go on without it.
      if (this.#dockerd.signalCode !== null) await this.startDockerd();
      const containers = await this.#docker.listContainers({ all: true }).catch(() => []);
      for (const { Id } of containers)
        await this.#docker
          .getContainer(Id)
          .remove({ force: true })
          .catch(ignoreError('it may be gone already'));
      await end(this.#dockerd, 'SIGTERM');
    }
    if (this.#containerd) await end(this.#containerd, 'SIGTERM');
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((path) => path.startsWith(`${this.#folder}/`));
    for (const path of mounts.reverse()) await promisify(execFile)('umount', ['--lazy', path]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #startContainerd(): void {
    writeFileSync(
      this.#path('containerd.toml'),
      'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n',
    );
    this.#containerd = this.#run('containerd', {
      log: 'containerd.log',
      paths: [
        ['config', 'containerd.toml'],
        ['address', 'containerd.sock'],
        ['root', 'containerd'],
        ['state', 'containerd-state'],
      ],
    });
  }

  #run(
    program: string,
    {
      log,
      paths,
      more = [],
    }: { log: string; paths: [flag: string, file: string][]; more?: string[] },
  ): ChildProcess {
    const output = openSync(this.#path(log), 'a');
    const flags = paths.flatMap(([flag, path]) => [`--${flag}`, this.#path(path)]);
    // Runs in a separate network namespace, because a dockerd without a bridge removes an existing
    // one.
    const child = spawn('unshare', ['--net', '--', program, ...flags, ...more], {
      env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    return child;
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
