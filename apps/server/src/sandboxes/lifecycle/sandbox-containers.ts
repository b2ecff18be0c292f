import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ContainerHost, labels, type ContainerSpec, type SharedFolder } from '@belay/containers';
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
import { SessionAgents, type AgentMounts } from '../../agents/session-agents.js';
import { Config } from '../../config.js';
import { toolSettings } from '../../egress/tool-settings.js';
import { SandboxConnections } from '../connection/sandbox-connections.js';
import { HostFolders } from '../host-folders.js';
import { MachineAgents } from '../machines/machine-agents.js';
import type { SandboxRecord } from './sandbox-records.store.js';
import type { Sandbox } from './sandbox.js';

export interface Launch {
  /** The server’s default when omitted. */
  image?: string | null;
  profile: SandboxProfile;
  /** Folders of this machine to mount. */
  mounts?: readonly SessionMount[];
  /** Omitted for Belay’s own. */
  agent?: SessionAgent | undefined;
}

export interface Disposal {
  /** Whether its files are removed, too. */
  files: boolean;
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

/** Starts and ends sandboxes, in containers of this server or on joined machines. */
@Injectable()
export class SandboxContainers {
  readonly #starts = new Semaphore(parallelStarts);
  #busy = 0;
  #tools: ReturnType<typeof toolSettings> | undefined;

  constructor(
    private readonly config: Config,
    private readonly host: ContainerHost,
    private readonly folders: HostFolders,
    private readonly agents: SessionAgents,
    private readonly connections: SandboxConnections,
    private readonly machines: MachineAgents,
  ) {}

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

  /** Admits the agent of a sandbox of an earlier server. */
  async adopt(sandbox: Sandbox): Promise<void> {
    this.connections.listen(sandbox);
    if (sandbox.machine === undefined) await this.host.adopt(sandbox.id);
  }

  /** Renames a warm sandbox after its session; delayed, because the session’s start needs the processor first. */
  rename(sandbox: Sandbox): void {
    const rename = async () => {
      if (!sandbox.isEnding) await this.host.rename(sandbox.id, labelOf(sandbox));
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
    while (Date.now() < end && (await this.host.look(sandbox.id)).state === 'running') {
      await delay(50);
    }
  }

  /**
   * Ends a sandbox and removes its container, and its files if requested. Calls waiting for its agent fail with
   * `reason`. Does nothing if the sandbox is already gone; throws when the engine fails.
   */
  async dispose(sandbox: Sandbox, { files, reason = ended }: Disposal): Promise<void> {
    sandbox.startEnding();
    if (sandbox.machine !== undefined) return this.machines.dispose(sandbox, { files, reason });
    await this.host.remove(sandbox.id);
    sandbox.end(reason);
    this.connections.remove(sandbox.id, reason);
    if (files) await this.host.removeFiles(sandbox.files);
  }

  /** Like `dispose`, for an unused sandbox. If the engine is unavailable, the reconciler removes it later. */
  async discard(sandbox: Sandbox, disposal: Disposal): Promise<void> {
    await this.dispose(sandbox, disposal).catch(() => this.connections.remove(sandbox.id, ended));
  }

  /** Whether the files of a session’s earlier sandbox are still there; those on machines are taken to be. */
  async hasFiles({ files, machine }: SandboxRecord): Promise<boolean> {
    return machine !== undefined || this.host.hasFiles(files);
  }

  removeFiles({ files, machine }: SandboxRecord): Promise<void> {
    if (machine === undefined) return this.host.removeFiles(files);
    return this.machines.removeFiles(machine, files);
  }

  async #launch(sandbox: Sandbox, launch: Launch): Promise<void> {
    await this.#stillWanted(sandbox);
    const { image = null, agent } = launch;
    const agentMounts = await this.agents.mounts({ session: sandbox.session, image, agent });
    this.connections.listen(sandbox);
    const folders = await this.folders.hold(launch.mounts ?? []);
    const spec = await this.#spec(sandbox, launch, { folders, agentMounts });
    await this.host.start(spec, sandbox.signal);
    await greetedInTime(sandbox);
  }

  /** Rejects with the cause if the start was cancelled. */
  async #stillWanted(sandbox: Sandbox): Promise<void> {
    await sandbox.alive(Promise.resolve());
  }

  async #spec(
    sandbox: Sandbox,
    { image, profile }: Launch,
    {
      folders,
      agentMounts,
    }: { folders: readonly SharedFolder[]; agentMounts: AgentMounts | undefined },
  ): Promise<ContainerSpec> {
    const { id, session, epoch, files } = sandbox;
    const { memoryMb, cpus } = this.config;
    return {
      id,
      label: labelOf(sandbox),
      labels: session === null ? {} : { [labels.session]: session, [labels.epoch]: `${epoch}` },
      image: image ?? this.config.image,
      rights: profile,
      limits: { memoryMb, cpus },
      env: await this.#toolSettings(),
      files,
      folders,
      ...filesOf(agentMounts),
    };
  }

  #toolSettings(): Promise<Record<string, string>> {
    return (this.#tools ??= toolSettings(this.config.environment));
  }
}

/** A sandbox’s name for people, which is that of its session once it has one. */
const labelOf = ({ id, session }: Sandbox): string => session ?? `warm-${id}`;

/** An agent’s packages, the home of a sign-in and policy files. */
function filesOf(
  mounts: AgentMounts | undefined,
): Pick<ContainerSpec, 'keptFiles' | 'placedFiles'> {
  const { volume, login, policy = [] } = mounts ?? {};
  return {
    keptFiles: [
      ...(volume ? [{ name: volume.name, path: volume.target, readOnly: true }] : []),
      ...(login ? [{ name: login.name, path: login.target, readOnly: false }] : []),
    ],
    placedFiles: policy,
  };
}

function greetedInTime(sandbox: Sandbox): Promise<void> {
  return inTime(sandbox.greeted(), helloTimeoutMs, () => {
    const seconds = helloTimeoutMs / 1000;
    throw new AppError('unavailable', `The agent did not connect within ${seconds} s.`);
  });
}
