import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import {
  agentContainer,
  containerName,
  DockerClient,
  hosts,
  labels,
  volume,
  type Limits,
} from '@belay/docker';
import {
  AppError,
  ignoreError,
  type SandboxProfile,
  type SessionAgent,
  type SessionMachine,
  type SessionMount,
} from '@belay/protocol';
import { inTime } from '@belay/rpc';
import { Semaphore } from 'async-mutex';
import type { MountSettings } from 'dockerode';
import type { AgentMounts } from '../../agents/session-agents.js';
import { Config } from '../../config.js';
import { toolSettings } from '../../egress/tool-settings.js';
import { SandboxConnections } from '../connection/sandbox-connections.js';
import { HostFolders, type HeldFolder } from '../engine/host-folders.js';
import { hostFolder } from '../../programs/program-spec.js';
import { Sidecars } from '../engine/sidecars.js';
import { ownerLabels } from '../../owner-labels.js';
import { Volumes } from '../engine/volumes.js';
import { MachineAgents } from '../machines/machine-agents.js';
import type { SandboxRecord } from './sandbox-records.store.js';
import type { Sandbox } from './sandbox.js';

export interface Launch {
  /** The server’s default when omitted. */
  image?: string | null;
  profile: SandboxProfile;
  /** The sandbox reuses the volumes of an earlier sandbox of its session. */
  keepsFiles?: boolean;
  /** Folders of this machine to mount. */
  mounts?: readonly SessionMount[];
  /** Omitted for Belay’s own. */
  agent?: SessionAgent | undefined;
}

export interface Disposal {
  volumes: boolean;
  reason?: AppError;
}

/** Containers that are created concurrently: more would only slow each other down. */
const parallelStarts = 4;
/** From the claim of a warm sandbox to its renaming: longer than a session takes until its first output. */
const renameDelayMs = 500;
/** From the start of a container to its agent’s hello. */
const helloTimeoutMs = 60_000;
/** How long an agent may take to write its remaining data, and its container then to end. */
const shutdownTimeoutMs = 3_000;
const exitTimeoutMs = 1_500;

const ended = new AppError('unavailable', 'The sandbox was ended.');

/** Makes and removes the containers of sandboxes. */
@Injectable()
export class SandboxContainers {
  readonly #starts = new Semaphore(parallelStarts);
  #busy = 0;
  readonly #folders: HostFolders;
  #tools: ReturnType<typeof toolSettings> | undefined;

  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
    private readonly volumes: Volumes,
    private readonly sidecars: Sidecars,
    private readonly connections: SandboxConnections,
    private readonly machines: MachineAgents,
  ) {
    this.#folders = new HostFolders(config, docker);
  }

  /** Containers that are being created, or wait for it. */
  get busy(): number {
    return this.#busy;
  }

  /** See `Machines.ofSession`. */
  machineOf(machine: SessionMachine): string {
    return this.machines.ofSession(machine);
  }

  /** Resolves when the agent has said hello. After a rejection, `discard` removes what was created. */
  async launch(sandbox: Sandbox, launch: Launch): Promise<void> {
    if (sandbox.machine !== undefined) {
      await this.#stillWanted(sandbox);
      const { image = null, profile } = launch;
      await this.machines.launch(sandbox, { image, profile, tools: await this.#toolSettings() });
      return greetedInTime(sandbox);
    }
    this.#busy++;
    try {
      await this.#starts.runExclusive(() => this.#launch(sandbox, launch));
    } finally {
      this.#busy--;
    }
  }

  /** Listens for the agent of a sandbox. */
  listen(sandbox: Sandbox): Promise<void> {
    return this.connections.listen(sandbox);
  }

  /** Renames a warm sandbox after its session; delayed, because the session’s start needs the processor first. */
  rename(sandbox: Sandbox): void {
    const rename = async () => {
      if (!sandbox.isEnding) await this.docker.rename(sandbox.container, containerName(sandbox));
    };
    const late = () => void rename().catch(ignoreError('the name only helps readers of docker ps'));
    setTimeout(late, renameDelayMs).unref();
  }

  /** Lets the agent write its remaining data. */
  async shutDown(sandbox: Sandbox): Promise<void> {
    if (!sandbox.link?.connected) return;
    const signal = AbortSignal.timeout(shutdownTimeoutMs);
    await sandbox.link.call('shutdown', {}, { signal }).catch(ignoreError('it is killed'));
    if (sandbox.machine !== undefined) return;
    const end = Date.now() + exitTimeoutMs;
    while (Date.now() < end && (await this.docker.exit(sandbox.container)) === null) {
      await delay(50);
    }
  }

  /**
   * Ends a sandbox and removes its containers, and its files if requested. Calls waiting for its agent fail with
   * `reason`. Does nothing if the sandbox is already gone; throws when the engine fails.
   */
  async dispose(sandbox: Sandbox, { volumes, reason = ended }: Disposal): Promise<void> {
    sandbox.startEnding();
    if (sandbox.machine !== undefined) return this.machines.dispose(sandbox, { volumes, reason });
    if (sandbox.container) {
      await this.sidecars.remove(sandbox.id);
      await this.docker.remove(sandbox.container);
    }
    sandbox.end(reason);
    await this.connections.remove(sandbox.id, reason);
    if (volumes) await this.volumes.remove(sandbox.volumes, sandbox.id);
  }

  /** Like `dispose`, for an unused sandbox. If the engine is unavailable, the reconciler removes it later. */
  async discard(sandbox: Sandbox, disposal: Disposal): Promise<void> {
    await this.dispose(sandbox, disposal).catch(() => this.connections.remove(sandbox.id, ended));
  }

  /** Whether the workspace of a session’s earlier sandbox is still there; a machine that was removed took it along. */
  async hasFiles({ volumes, machine }: SandboxRecord): Promise<boolean> {
    if (machine !== undefined) return this.machines.has(machine);
    return (await this.docker.volumeLabels(volumes.workspace)) !== undefined;
  }

  removeFiles({ volumes, machine }: SandboxRecord): Promise<void> {
    if (machine === undefined) return this.volumes.remove(volumes);
    return this.machines.removeFiles(machine, [volumes.workspace, volumes.state]);
  }

  /** Removes the socket folder of a sandbox of an earlier server. */
  async removeFolder(sandbox: string): Promise<void> {
    await this.connections.remove(sandbox, ended);
  }

  async #launch(sandbox: Sandbox, launch: Launch): Promise<void> {
    await this.#stillWanted(sandbox);
    try {
      const { image = null, agent } = launch;
      const mounts = await this.volumes.ofAgent({ session: sandbox.session, image, agent });
      const [listening, prepared] = await Promise.allSettled([
        this.#prepareFolder(sandbox, launch, mounts),
        this.#prepareVolumes(sandbox, launch),
      ]);
      if (listening.status === 'rejected') throw listening.reason;
      if (prepared.status === 'rejected') throw prepared.reason;
      const shared = await this.#folders.hold(launch.mounts ?? []);
      await this.#stillWanted(sandbox);
      sandbox.container = await this.docker.create(
        await this.#containerSpec(sandbox, launch, { seeded: prepared.value, shared, mounts }),
      );
      await this.#stillWanted(sandbox);
      await this.docker.start(sandbox.container);
      await this.#folders.assertMounted(sandbox.container, shared);
    } finally {
      // Only now, because removing the container earlier would make the agent wait for the engine.
      this.volumes.releaseOwner(sandbox.id);
    }
    await greetedInTime(sandbox);
  }

  /** Rejects with the cause if the start was cancelled. */
  async #stillWanted(sandbox: Sandbox): Promise<void> {
    await sandbox.alive(Promise.resolve());
  }

  async #containerSpec(
    sandbox: Sandbox,
    { image, profile }: Launch,
    {
      seeded,
      shared,
      mounts,
    }: { seeded: boolean; shared: readonly HeldFolder[]; mounts: AgentMounts | undefined },
  ) {
    const { session, epoch } = sandbox;
    const socketFolder = this.connections.folder(sandbox.id);
    return agentContainer({
      name: containerName(sandbox),
      image: image ?? this.config.image,
      profile,
      volumes: sandbox.volumes,
      seeded,
      runtime: this.config.runtimeVolume,
      socketFolder,
      shared: [
        ...shared.map((one) => hostFolder({ ...one, real: one.folder })),
        ...agentMounts(mounts, socketFolder),
      ],
      limits: await this.#limits(),
      tools: await this.#toolSettings(),
      labels: ownerLabels(this.config, {
        [labels.sandbox]: sandbox.id,
        ...(session !== null && { [labels.session]: session, [labels.epoch]: String(epoch) }),
      }),
    });
  }

  #toolSettings(): Promise<Record<string, string>> {
    return (this.#tools ??= toolSettings(this.config.environment));
  }

  async #limits(): Promise<Limits> {
    const cpus = Math.min(this.config.cpus, await this.docker.cpus());
    return { memoryMb: this.config.memoryMb, cpus };
  }

  async #prepareFolder(
    sandbox: Sandbox,
    { image }: Launch,
    mounts: AgentMounts | undefined,
  ): Promise<void> {
    await this.listen(sandbox);
    const names = image ? await this.docker.imageLabel(image, labels.hosts) : undefined;
    const valid = names?.split(' ').filter((name) => /^[\w.-]{1,253}$/.test(name));
    await this.connections.putFile(sandbox.id, hosts.file, hosts.content(valid));
    for (const [index, { text }] of (mounts?.policy ?? []).entries())
      await this.connections.putFile(sandbox.id, policyFile(index), text);
  }

  /** Returns whether fresh volumes get their owner from the sandbox’s image. */
  async #prepareVolumes(
    sandbox: Sandbox,
    { image, profile, keepsFiles }: Launch,
  ): Promise<boolean> {
    if (keepsFiles) {
      await this.volumes.runtime();
      return false;
    }
    const { id, session, volumes } = sandbox;
    return this.volumes.prepare({
      sandbox: id,
      session,
      volumes,
      image: image ?? this.config.image,
      profile,
    });
  }
}

/** The file’s name in a sandbox’s own folder, which programs can read. */
const policyFile = (index: number): string => `policy-${index}`;

/** An agent’s packages and policy files, which no program in the sandbox can change. */
function agentMounts(mounts: AgentMounts | undefined, folder: string): MountSettings[] {
  if (!mounts) return [];
  const files = mounts.policy.map(({ path }, index): MountSettings => ({
    Type: 'bind',
    Source: join(folder, policyFile(index)),
    Target: path,
    ReadOnly: true,
  }));
  const { volume: packages, login } = mounts;
  return [
    ...(packages
      ? [volume({ Source: packages.name, Target: packages.target, ReadOnly: true })]
      : []),
    ...(login ? [volume({ Source: login.name, Target: login.target })] : []),
    ...files,
  ];
}

function greetedInTime(sandbox: Sandbox): Promise<void> {
  return inTime(sandbox.greeted(), helloTimeoutMs, () => {
    const seconds = helloTimeoutMs / 1000;
    throw new AppError('unavailable', `The agent did not connect within ${seconds} s.`);
  });
}
