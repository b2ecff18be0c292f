import { randomBytes } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { AppError, type SandboxProfile } from '@belay/protocol';
import { Config } from '../config.js';
import { toolSettings } from '../egress/tool-settings.js';
import {
  agentContainer,
  hosts,
  labels,
  ownershipContainer,
  seedsVolumes,
  type Limits,
} from './container-spec.js';
import { DockerClient } from './docker.client.js';
import { AgentCalls } from './agent-calls.js';
import { RopeListener } from './rope-listener.js';
import { Sandbox, type SandboxVolumes } from './sandbox.js';
import { Turnstile } from './turnstile.js';

export interface Launch {
  image: string;
  profile: SandboxProfile;
  /** Files of an earlier sandbox of the session; fresh ones when left out. */
  volumes?: SandboxVolumes;
  /** Nobody’s when left out: a warm one. */
  session?: string;
  epoch?: number;
}

/** Containers that are being made at once: more only get in each other’s way. */
const parallelStarts = 4;
/** How long a container may take from its start to its agent’s hello, in milliseconds. */
const helloPatience = 60_000;

const ended = new AppError('unavailable', 'The sandbox was ended.');

/** Makes and unmakes the containers of sandboxes. What fails leaves nothing behind. */
@Injectable()
export class ContainerLauncher {
  private readonly turnstile = new Turnstile(parallelStarts);
  /** Containers that gave fresh volumes their owner, by sandbox; they hold the volumes until they are removed. */
  private readonly givers = new Map<string, string>();
  private readonly leaving = new Map<string, Promise<void>>();
  /** Volumes that could not be removed: an engine killed while it makes one has not written its labels. */
  readonly unremoved = new Set<string>();
  private runtimeImage: Promise<string> | undefined;
  private tools: ReturnType<typeof toolSettings> | undefined;

  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
    private readonly listener: RopeListener,
    private readonly calls: AgentCalls,
  ) {}

  /** Containers that are being made, or wait for it. */
  get busy(): number {
    return this.turnstile.size;
  }

  /** Resolves when the agent has said hello. `born` hears of the sandbox before anything can happen to it. */
  launch(launch: Launch, born: (sandbox: Sandbox) => void): Promise<Sandbox> {
    return this.turnstile.pass(async () => {
      const id = randomBytes(6).toString('hex');
      const volumes = launch.volumes ?? {
        workspace: `belay-${id}-workspace`,
        state: `belay-${id}-state`,
      };
      const sandbox = new Sandbox(id, volumes);
      if (launch.session !== undefined) sandbox.assign(launch.session, launch.epoch ?? 0);
      born(sandbox);
      try {
        await this.make(sandbox, launch);
        return sandbox;
      } catch (error) {
        sandbox.ending = true;
        // The cause is what a person must read; what cannot be removed now is removed at the next start.
        await this.dispose(sandbox, { volumes: launch.volumes === undefined }).catch(() => {});
        throw error;
      }
    });
  }

  /** Listens again for a sandbox that runs already. */
  async adopt(sandbox: Sandbox): Promise<void> {
    await this.listen(sandbox);
  }

  /**
   * Ends a sandbox and removes its container, and its files when asked. What waits for its agent fails with
   * `reason`. Fine when it is gone already.
   */
  async dispose(
    sandbox: Sandbox,
    { volumes, reason = ended }: { volumes: boolean; reason?: AppError },
  ): Promise<void> {
    sandbox.ending = true;
    if (sandbox.container) await this.docker.remove(sandbox.container);
    sandbox.end(reason);
    await this.listener.remove(sandbox.id, reason);
    if (!volumes) return;
    await this.leaving.get(sandbox.id);
    await this.removeVolumes(sandbox.volumes);
  }

  async removeVolumes({ workspace, state }: SandboxVolumes): Promise<void> {
    await Promise.all([this.removeVolume(workspace), this.removeVolume(state)]);
  }

  async removeVolume(name: string): Promise<void> {
    this.unremoved.add(name);
    await this.docker.removeVolume(name);
    this.unremoved.delete(name);
  }

  /** The folder of a sandbox's socket, of a server that is gone. */
  async removeFolder(sandbox: string): Promise<void> {
    await this.listener.remove(sandbox, ended);
  }

  async limits(): Promise<Limits> {
    const cpus = Math.min(this.config.cpus, await this.docker.cpus());
    return { memoryMb: this.config.memoryMb, cpus };
  }

  /** The image that the runtime’s volume was made of. Throws `unavailable` when the volume is not there. */
  async runtime(): Promise<string> {
    this.runtimeImage ??= this.findRuntime().catch((error: unknown) => {
      this.runtimeImage = undefined;
      throw error;
    });
    return this.runtimeImage;
  }

  owner(more: Record<string, string> = {}): Record<string, string> {
    return { [labels.instance]: this.config.instance, [labels.data]: this.config.data, ...more };
  }

  private async make(sandbox: Sandbox, launch: Launch): Promise<void> {
    const owner = this.owner({
      [labels.sandbox]: sandbox.id,
      ...(launch.session !== undefined && {
        [labels.session]: launch.session,
        [labels.epoch]: String(launch.epoch ?? 0),
      }),
    });
    try {
      const [listening, seeded] = await Promise.allSettled([
        this.prepareFolder(sandbox),
        this.prepareVolumes(sandbox, launch),
      ]);
      if (listening.status === 'rejected') throw listening.reason;
      if (seeded.status === 'rejected') throw seeded.reason;
      sandbox.container = await this.docker.create(
        agentContainer({
          image: launch.image,
          profile: launch.profile,
          volumes: sandbox.volumes,
          seeded: seeded.value,
          runtime: this.config.runtimeVolume,
          ropeFolder: this.listener.folder(sandbox.id),
          limits: await this.limits(),
          tools: await (this.tools ??= toolSettings(this.config.environment)),
          labels: owner,
        }),
      );
      await this.docker.start(sandbox.container);
    } finally {
      // Only now: the engine would make the agent wait meanwhile.
      this.letGo(sandbox);
    }
    await this.hello(sandbox);
  }

  private async prepareFolder(sandbox: Sandbox): Promise<void> {
    await this.listen(sandbox);
    // Readable whatever the server's umask is.
    const file = join(this.listener.folder(sandbox.id), hosts.file);
    await writeFile(file, hosts.content);
    await chmod(file, 0o644);
  }

  /** Answers whether fresh volumes get their owner from the sandbox's image. */
  private async prepareVolumes(sandbox: Sandbox, launch: Launch): Promise<boolean> {
    const runtime = await this.runtime();
    // Volumes are root's from the start.
    if (launch.volumes || launch.profile === 'root') return false;
    // Images that are made from the default one have its label too, and may have files of their own there.
    const isDefault = launch.image === this.config.image;
    if (isDefault && (await this.docker.imageHasLabel(launch.image, seedsVolumes))) return true;
    const { volumes } = sandbox;
    const volumeLabels = this.owner({ [labels.sandbox]: sandbox.id });
    const spec = { image: runtime, volumes, labels: this.owner(), volumeLabels };
    this.givers.set(sandbox.id, await this.docker.create(ownershipContainer(spec)));
    return false;
  }

  /** Its making is all that was needed of it. One that stays behind is removed at the next start of the server. */
  private letGo({ id }: Sandbox): void {
    const giver = this.givers.get(id);
    if (giver === undefined) return;
    this.givers.delete(id);
    const leaving = this.docker.remove(giver).catch(() => {});
    this.leaving.set(id, leaving);
    void leaving.then(() => this.leaving.delete(id));
  }

  private listen(sandbox: Sandbox): Promise<void> {
    return this.listener.open(sandbox.id, (rope) => this.calls.serve(rope, sandbox));
  }

  private async hello(sandbox: Sandbox): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    const seconds = helloPatience / 1000;
    const late = new AppError('unavailable', `The agent did not answer within ${seconds} s.`);
    const timer = setTimeout(() => reject(late), helloPatience);
    try {
      await Promise.race([sandbox.greeted(), promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  private async findRuntime(): Promise<string> {
    const volume = this.config.runtimeVolume;
    const found = await this.docker.volumeLabels(volume);
    if (!found) {
      throw new AppError(
        'unavailable',
        `The agent’s runtime (the volume ${volume}) is not there: npm start builds it.`,
      );
    }
    // The volume was filled by a container of its own name, which was made of the runtime’s image.
    return (
      (await this.docker.imageOf(volume)) ?? `belay/runtime:${found['belay.runtime'] ?? 'latest'}`
    );
  }
}
