import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findCommand } from '../prepare/debian.mjs';
import { Docker } from '../prepare/docker-api.mjs';
import { prepareRuntime } from '../prepare/images.mjs';
import { run } from '../prepare/run.mjs';

const Dockerode = createRequire(import.meta.url)('dockerode');

/**
 * A Docker Engine of its own beside the machine's, with `live-restore` and a containerd that outlives it as under
 * systemd: its dockerd can be killed without ending other work. Takes root, dockerd, containerd and unshare.
 */
export class SecondEngine {
  static async start() {
    const programs = ['dockerd', 'containerd', 'unshare'].map((name) => findCommand(name));
    if (process.getuid?.() !== 0 || programs.includes(undefined))
      throw new Error('a second Docker Engine takes root, dockerd, containerd and unshare');
    const engine = new SecondEngine(programs);
    try {
      await engine.#startContainerd();
      await engine.startDockerd();
      return engine;
    } catch (error) {
      await engine.dispose();
      throw error;
    }
  }

  #containerd;
  #dockerd;

  constructor([dockerd, containerd, unshare]) {
    this.programs = { dockerd, containerd, unshare };
    this.folder = mkdtempSync(join(tmpdir(), 'belay-engine-'));
    this.host = `unix://${this.#path('docker.sock')}`;
    this.api = new Docker(this.host);
    this.docker = new Dockerode({ socketPath: this.#path('docker.sock') });
  }

  /** Resolves when it answers. */
  async startDockerd() {
    // What a dockerd that was killed leaves; a new one would take it for its own life.
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
    await this.#until(this.#dockerd, () => this.api.ping(500));
  }

  async killDockerd() {
    await end(this.#dockerd, 'SIGKILL');
  }

  /** Takes an image over from the machine's engine. */
  async copyImage(name) {
    const image = await new Dockerode().getImage(name).get();
    const progress = await this.docker.loadImage(image, { quiet: true });
    progress.resume();
    await once(progress, 'end');
  }

  /** The agent's runtime, as the machine's own engine has it; answers the volume's name. */
  async copyRuntime(volume) {
    await this.copyImage(volume.replace('belay-runtime-', 'belay/runtime:'));
    return prepareRuntime(this.api, () => {});
  }

  /** The process that a session's container runs, as the machine numbers it. */
  async pidOf(session) {
    const filters = { label: [`belay.session=${session}`] };
    const [{ Id }] = await this.docker.listContainers({ filters });
    return (await this.docker.getContainer(Id).inspect()).State.Pid;
  }

  /** How many containers and volumes there are. */
  async inventory() {
    const { Volumes } = await this.docker.listVolumes();
    return (await this.docker.listContainers({ all: true })).length + (Volumes ?? []).length;
  }

  /** Ends it, and removes all that it had. */
  async dispose() {
    if (this.#dockerd) {
      const containers = await this.docker.listContainers({ all: true }).catch(() => []);
      for (const { Id } of containers)
        await this.docker
          .getContainer(Id)
          .remove({ force: true })
          .catch(() => {});
      await end(this.#dockerd, 'SIGTERM');
    }
    if (this.#containerd) await end(this.#containerd, 'SIGTERM');
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((path) => path.startsWith(`${this.folder}/`));
    for (const path of mounts.reverse()) await run('umount', ['--lazy', path]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #startContainerd() {
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

  #run(name, paths, more = []) {
    const log = openSync(this.#path(`${name}.log`), 'a');
    const flags = paths.flatMap(([flag, path]) => [`--${flag}`, this.#path(path)]);
    // In a network of its own: a dockerd without a bridge removes the one that is there.
    const command = ['--net', '--', this.programs[name], ...flags, ...more];
    const child = spawn(this.programs.unshare, command, { stdio: ['ignore', log, log] });
    closeSync(log);
    child.name = name;
    return child;
  }

  async #until(child, answers) {
    const deadline = Date.now() + 60_000;
    for (;;) {
      if (
        await answers().then(
          () => true,
          () => false,
        )
      )
        return;
      if (child.exitCode !== null || Date.now() > deadline) {
        const said = readFileSync(this.#path(`${child.name}.log`), 'utf8')
          .trim()
          .split('\n');
        throw new Error(`the second ${child.name} does not answer: ${said.at(-1)}`);
      }
      await delay(50);
    }
  }

  #path(name) {
    return join(this.folder, name);
  }
}

async function end(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
