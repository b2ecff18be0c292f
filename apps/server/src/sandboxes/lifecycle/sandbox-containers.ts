import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { labels, type ContainerSpec, type SharedFolder } from '@belay/containers';
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
import { MachineHosts } from '../machines/machine-hosts.js';
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

/** Containers of this server that are created concurrently: more would only slow each other down. */
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
  readonly #logger = new Logger(SandboxContainers.name);
  readonly #starts = new Semaphore(parallelStarts);
  #busy = 0;
  #onIdle: () => void = () => undefined;
  #tools: ReturnType<typeof toolSettings> | undefined;

  constructor(
    private readonly config: Config,
    private readonly hosts: MachineHosts,
    private readonly folders: HostFolders,
    private readonly agents: SessionAgents,
    private readonly connections: SandboxConnections,
    private readonly machines: MachineAgents,
  ) {}

  /** Containers that are being created, or wait for it. */
  get busy(): number {
    return this.#busy;
  }

  /** Calls the listener each time that none is being created any more. */
  onIdle(listener: () => void): void {
    this.#onIdle = listener;
  }

  /** See `Machines.ofSession`. */
  machineOf(machine: SessionMachine): string {
    return this.machines.ofSession(machine);
  }

  /** Resolves when the agent has said hello. After a rejection, `discard` removes what was created. */
  async launch(sandbox: Sandbox, launch: Launch): Promise<void> {
    if (this.#isBare(sandbox)) {
      await this.#stillWanted(sandbox);
      await this.machines.launch(sandbox);
      return greetedInTime(sandbox);
    }
    if (sandbox.machine !== undefined) return this.#launch(sandbox, launch);
    this.#busy++;
    try {
      await this.#starts.runExclusive(() => this.#launch(sandbox, launch));
    } finally {
      this.#busy--;
      if (this.#busy === 0) this.#onIdle();
    }
  }

  /** Admits the agent of a sandbox of an earlier server. */
  async adopt(sandbox: Sandbox): Promise<void> {
    this.#listen(sandbox);
    await this.hosts.of(sandbox.machine)?.adopt(sandbox.id);
  }

  /** Renames a warm sandbox after its session; delayed, because the session’s start needs the processor first. */
  rename(sandbox: Sandbox): void {
    const rename = async () => {
      const { id, machine, isEnding } = sandbox;
      if (!isEnding) await this.hosts.of(machine)?.rename(id, labelOf(sandbox));
    };
    const late = () => void rename().catch(ignoreError('the name only helps readers of docker ps'));
    setTimeout(late, renameDelayMs).unref();
  }

  /** See `ContainerHost`. */
  cautionOf({ machine }: Sandbox): string | null {
    return this.hosts.of(machine)?.caution ?? null;
  }

  /** Whether the sandbox’s files stay when its container is removed. */
  keepsFiles({ machine }: Sandbox): boolean {
    return this.hosts.of(machine)?.keepsFiles ?? true;
  }

  /** Lets the agent write its remaining data. */
  async shutDown(sandbox: Sandbox): Promise<void> {
    if (!sandbox.link?.connected) return;
    const signal = AbortSignal.timeout(shutdownTimeoutMs);
    await sandbox.link.call('shutdown', {}, { signal }).catch(ignoreError('it is killed'));
    if (sandbox.machine !== undefined) return;
    const end = Date.now() + exitTimeoutMs;
    while (Date.now() < end && (await this.hosts.own.host.look(sandbox.id)).state === 'running') {
      await delay(50);
    }
  }

  /**
   * Ends a sandbox and removes its container, and its files if requested. Calls waiting for its agent fail with
   * `reason`. Does nothing if the sandbox is already gone. Throws when the engine fails; then its agent is still admitted,
   * so that the sandbox can be kept.
   */
  async dispose(sandbox: Sandbox, { files, reason = ended }: Disposal): Promise<void> {
    sandbox.startEnding();
    if (this.#isBare(sandbox)) return this.machines.dispose(sandbox, { files, reason });
    if (sandbox.machine !== undefined) return this.#disposeFar(sandbox, { files, reason });
    const { host } = this.hosts.own;
    await host.remove(sandbox.id);
    this.refuse(sandbox, reason);
    if (files) await host.removeFiles(sandbox.files);
  }

  /** Ends the connections of a sandbox that nobody comes back to, and admits no more, wherever its agent goes on. */
  refuse(sandbox: Sandbox, reason: AppError): void {
    sandbox.end(reason);
    this.connections.remove(sandbox.id, reason);
  }

  /** Like `dispose`, for an unused sandbox. If the engine is unavailable, the reconciler removes it later. */
  async discard(sandbox: Sandbox, disposal: Disposal): Promise<void> {
    await this.dispose(sandbox, disposal).catch(() => this.refuse(sandbox, ended));
  }

  /** Whether the files of a session’s earlier sandbox are still there; those on machines are taken to be. */
  async hasFiles({ files, machine }: SandboxRecord): Promise<boolean> {
    const host = this.hosts.of(machine);
    return host ? host.hasFiles(files) : machine !== undefined;
  }

  async removeFiles({ files, machine }: SandboxRecord): Promise<void> {
    const host = this.hosts.of(machine);
    if (machine === undefined) await this.hosts.own.host.removeFiles(files);
    else if (host) await host.removeFiles(files).catch(laterThere);
    else await this.machines.removeFiles(machine, files);
  }

  /** Whether its machine has no containers, or was removed. */
  #isBare({ machine }: Sandbox): boolean {
    return machine !== undefined && this.hosts.of(machine) === undefined;
  }

  /** The machine may be away: its agent is refused from now on. */
  async #disposeFar(sandbox: Sandbox, { files, reason }: Required<Disposal>): Promise<void> {
    this.refuse(sandbox, reason);
    const host = this.hosts.of(sandbox.machine);
    await host?.remove(sandbox.id).catch(laterThere);
    if (files) await host?.removeFiles(sandbox.files).catch(laterThere);
  }

  #listen(sandbox: Sandbox): void {
    const isFar = !this.hosts.of(sandbox.machine)?.can.local;
    this.connections.listen(sandbox, { isFar });
  }

  async #launch(sandbox: Sandbox, launch: Launch): Promise<void> {
    await this.#stillWanted(sandbox);
    const { image = null, agent } = launch;
    const agentMounts = await this.agents.mounts({ session: sandbox.session, image, agent });
    this.#listen(sandbox);
    const folders = await this.folders.hold(launch.mounts ?? []);
    const spec = await this.#spec(sandbox, launch, { folders, agentMounts });
    const host = await sandbox.alive(this.hosts.ready(sandbox.machine));
    if (sandbox.machine !== undefined && sandbox.session !== null)
      this.#logger.log(`${host.name} runs the session ${sandbox.session}.`);
    await host.start(spec, sandbox.signal);
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

/** What a machine does not remove now, `Reconciler` lets it remove when it is back. */
const laterThere = ignoreError('it is removed when the machine is back');

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
