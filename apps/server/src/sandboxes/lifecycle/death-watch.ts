import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { Look } from '@belay/containers';
import { AppError, errorFrom, ignoreError } from '@belay/protocol';
import { Config } from '../../config.js';
import { MachineHosts } from '../machines/machine-hosts.js';
import type { Findings } from './reconciler.js';
import type { Sandbox } from './sandbox.js';
import { SandboxContainers } from './sandbox-containers.js';
import { Sandboxes } from './sandboxes.js';
import { WarmPool } from './warm-pool.js';

/** `epoch` is that of the sandbox: its session may have a newer one meanwhile. */
export type LostListener = (session: string, reason: string, epoch: number) => void;

/** After this delay a lost connection is investigated, in case the host did not report an exit. */
const breakTimeoutMs = 1_000;

/** Handles unexpected exits of sandboxes: finds the cause, reports it, and removes the container. */
@Injectable()
export class DeathWatch implements Findings {
  readonly #logger = new Logger(DeathWatch.name);
  readonly #listeners = new Set<LostListener>();
  /** Exits found before the first listener was added. */
  readonly #unreported: Parameters<LostListener>[] = [];
  /** Dead containers that are still being removed, by session. */
  readonly #removals = new Map<string, Promise<void>>();
  #closing = false;

  constructor(
    private readonly config: Config,
    private readonly hosts: MachineHosts,
    private readonly containers: SandboxContainers,
    private readonly sandboxes: Sandboxes,
    private readonly pool: WarmPool,
  ) {
    sandboxes.on('disconnected', (sandbox) => void this.#lookAfterBreak(sandbox));
  }

  /** The server ends: later exits are found at its next start. */
  close(): void {
    this.#closing = true;
  }

  /** Adds a listener, which is also called with earlier exits. */
  onLost(listener: LostListener): void {
    this.#listeners.add(listener);
    for (const lost of this.#unreported.splice(0)) listener(...lost);
  }

  /** Resolves when everything of a session’s dead sandbox that can be removed now is removed. */
  async removed(session: string): Promise<void> {
    await this.#removals.get(session);
  }

  async died(sandbox: Sandbox, stated?: string): Promise<void> {
    if (sandbox.isEnding || this.#closing) return;
    const { session, state } = sandbox;
    sandbox.startEnding();
    const reason = stated ?? (await this.#reasonOf(sandbox));
    const error = new AppError('unavailable', reason);
    this.pool.drop(sandbox);
    sandbox.end(error);
    // A sandbox that exits during its start is removed by the start.
    if (state === 'starting') return;
    if (session === null) await this.#remove(sandbox, { files: true, reason: error });
    else await this.#reportAndRemove(sandbox, session, error);
  }

  async lost(sandbox: Sandbox, session: string): Promise<void> {
    const reason = await this.#reasonOf(sandbox);
    await this.#reportAndRemove(sandbox, session, new AppError('unavailable', reason));
  }

  /** The session of an agent on another machine is lost if the machine stays away too long. */
  async watchLease(sandbox: Sandbox): Promise<void> {
    const { machineLeaseMs } = this.config;
    const before = sandbox.connection;
    const breaks = sandbox.breaks;
    await delay(machineLeaseMs, undefined, { ref: false });
    const isBack = sandbox.connection !== before || sandbox.breaks !== breaks;
    if (isBack || sandbox.connection?.connected) return;
    const seconds = Math.round(machineLeaseMs / 1000);
    await this.died(sandbox, `Its machine was not connected for ${seconds} s.`);
  }

  async #lookAfterBreak(sandbox: Sandbox): Promise<void> {
    if (sandbox.machine !== undefined) void this.watchLease(sandbox);
    await delay(breakTimeoutMs, undefined, { ref: false });
    if (sandbox.isEnding || this.#closing || sandbox.connection?.connected) return;
    // The reconciler checks an unresponsive host once it is back.
    const seen = await this.#look(sandbox);
    if (seen && seen.state !== 'running') await this.died(sandbox);
  }

  async #reasonOf(sandbox: Sandbox): Promise<string> {
    const seen = await this.#look(sandbox);
    const files = this.containers.keepsFiles(sandbox)
      ? 'Its files are kept.'
      : 'Its files went with it, but for the copies of its steps on the server.';
    return `${seen?.why ?? 'The sandbox ended.'} ${files}`;
  }

  /** Undefined without a host that responds. */
  async #look({ id, machine }: Sandbox): Promise<Look | undefined> {
    const host = this.hosts.of(machine);
    return host?.look(id).catch(ignoreError('its host is away'));
  }

  /** Reported before the removal, which is slow on a busy machine: its session may start anew meanwhile. */
  async #reportAndRemove(sandbox: Sandbox, session: string, reason: AppError): Promise<void> {
    const removal = this.#remove(sandbox, { files: false, reason });
    this.sandboxes.remove(sandbox);
    this.#removals.set(session, removal);
    this.#report(session, reason.message, sandbox.epoch);
    await removal;
    if (this.#removals.get(session) === removal) this.#removals.delete(session);
  }

  #report(...lost: Parameters<LostListener>): void {
    if (this.#listeners.size === 0) this.#unreported.push(lost);
    for (const listener of this.#listeners) listener(...lost);
  }

  /** A container that cannot be removed now is removed when the host is back; what goes on in it is refused until then. */
  async #remove(sandbox: Sandbox, what: { files: boolean; reason: AppError }): Promise<void> {
    try {
      await this.containers.dispose(sandbox, what);
    } catch (error) {
      this.#logger.warn(errorFrom(error).message);
      this.containers.refuse(sandbox, what.reason);
    }
    this.sandboxes.remove(sandbox);
  }
}
