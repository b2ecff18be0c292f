import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { AppError, ignoreError } from '@belay/protocol';
import { Config } from '../../config.js';
import { MachineHosts } from '../machines/machine-hosts.js';
import type { Sandbox } from './sandbox.js';
import { SandboxContainers, type Launch } from './sandbox-containers.js';
import { Sandboxes } from './sandboxes.js';

/** Interval of the checks whether the machine is idle enough to refill. */
const busyDelayMs = 250;
const failedDelayMs = 10_000;

/** The profile that most sessions use. */
const defaultProfile = 'hardened';

const closed = new AppError('cancelled', 'The server is closing.');

/** The sandboxes that wait on one host. */
interface HostPool {
  readonly idle: Sandbox[];
  starting: Sandbox | undefined;
  filling: Promise<void> | undefined;
  /** The last one that was reported. */
  failure: string;
}

/**
 * A few sandboxes of the default image whose agents wait for a session, so that a session needs only one message to
 * start: on this server, and on each joined machine with containers that is connected.
 */
@Injectable()
export class WarmPool {
  readonly #logger = new Logger(WarmPool.name);
  /** By machine; undefined is this server. */
  readonly #pools = new Map<string | undefined, HostPool>();
  readonly #closing = new AbortController();

  constructor(
    private readonly config: Config,
    private readonly containers: SandboxContainers,
    private readonly sandboxes: Sandboxes,
    private readonly hosts: MachineHosts,
  ) {
    hosts.onChanged((machine) => {
      if (hosts.isReady(machine)) this.refill(machine);
      else void this.#empty(machine);
    });
  }

  get size(): number {
    return [...this.#pools.values()].reduce((sum, { idle }) => sum + idle.length, 0);
  }

  /** Claims a waiting sandbox on this machine with this image and profile, if there is one. */
  claim({ image, profile }: Launch, machine?: string): Sandbox | undefined {
    const isDefault = (image ?? this.config.image) === this.config.image;
    if (!isDefault || profile !== defaultProfile) return undefined;
    const { idle } = this.#poolOf(machine);
    // That of a machine may be cut off.
    const index = idle.findIndex(({ connection }) => connection?.connected);
    const [sandbox] = index >= 0 ? idle.splice(index, 1) : [];
    this.refill(machine);
    return sandbox;
  }

  /** Removes a sandbox that died. */
  drop(sandbox: Sandbox): void {
    const { idle } = this.#poolOf(sandbox.machine);
    const index = idle.indexOf(sandbox);
    if (index >= 0) idle.splice(index, 1);
    this.refill(sandbox.machine);
  }

  /** Fills the pool of a host, one sandbox at a time; on this server only while nothing else is starting. */
  refill(machine?: string): void {
    const pool = this.#poolOf(machine);
    if (pool.filling || !this.#lacks(pool, machine)) return;
    pool.filling = this.#fill(pool, machine).finally(() => {
      pool.filling = undefined;
      this.refill(machine);
    });
  }

  /** Ends the waiting sandboxes. */
  async close(): Promise<void> {
    this.#closing.abort();
    const pools = [...this.#pools];
    // A machine may pull an image first, which takes minutes.
    for (const [machine, { starting }] of pools) if (machine !== undefined) starting?.end(closed);
    await Promise.all(pools.map(async ([, { filling }]) => filling));
    await Promise.all(pools.map(([, { idle }]) => this.#endAll(idle)));
  }

  /** The machine is being drained. */
  async #empty(machine: string): Promise<void> {
    const { idle, starting } = this.#poolOf(machine);
    starting?.end(new AppError('cancelled', 'The machine is being drained.'));
    await this.#endAll(idle).catch((error: Error) => this.#logger.warn(error.message));
  }

  async #endAll(idle: Sandbox[]): Promise<void> {
    const ended = idle.splice(0);
    await Promise.all(ended.map((sandbox) => this.containers.dispose(sandbox, { files: true })));
  }

  #poolOf(machine: string | undefined): HostPool {
    const known = this.#pools.get(machine);
    if (known) return known;
    const pool = { idle: [], starting: undefined, filling: undefined, failure: '' };
    this.#pools.set(machine, pool);
    return pool;
  }

  #lacks({ idle }: HostPool, machine: string | undefined): boolean {
    const isOpen = !this.#closing.signal.aborted && this.hosts.isReady(machine);
    return isOpen && idle.length < this.config.pool;
  }

  async #fill(pool: HostPool, machine: string | undefined): Promise<void> {
    while (this.#lacks(pool, machine)) {
      if (!(await this.#pause(busyDelayMs))) return;
      if (machine === undefined && this.containers.busy > 0) continue;
      const sandbox = this.sandboxes.add({ machine });
      pool.starting = sandbox;
      try {
        await this.containers.launch(sandbox, { profile: defaultProfile });
        sandbox.waitForSession();
        pool.idle.push(sandbox);
        pool.failure = '';
      } catch (error) {
        await this.containers.discard(sandbox, { files: true });
        this.sandboxes.remove(sandbox);
        this.#report(pool, (error as Error).message);
        await this.#pause(failedDelayMs);
      } finally {
        pool.starting = undefined;
      }
    }
  }

  /** Returns whether to continue. */
  async #pause(milliseconds: number): Promise<boolean> {
    const { signal } = this.#closing;
    await delay(milliseconds, undefined, { signal, ref: false }).catch(
      ignoreError('the server is closing'),
    );
    return !signal.aborted;
  }

  /** Reports a repeated failure only once. */
  #report(pool: HostPool, failure: string): void {
    if (failure === pool.failure || this.#closing.signal.aborted) return;
    pool.failure = failure;
    this.#logger.warn(`No sandbox can be kept ready: ${failure}`);
  }
}
