import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { ignoreError } from '@belay/protocol';
import { Config } from '../../config.js';
import type { Sandbox } from './sandbox.js';
import { SandboxContainers, type Launch } from './sandbox-containers.js';
import { Sandboxes } from './sandboxes.js';

/** Interval of the checks whether the machine is idle enough to refill. */
const busyDelayMs = 250;
const failedDelayMs = 10_000;

/** The profile that most sessions use. */
const defaultProfile = 'hardened';

/**
 * A few sandboxes of the default image whose agents wait for a session, so that a session needs only one message to
 * start.
 */
@Injectable()
export class WarmPool {
  readonly #logger = new Logger(WarmPool.name);
  readonly #idle: Sandbox[] = [];
  #filling: Promise<void> | undefined;
  readonly #closing = new AbortController();
  #failure = '';

  constructor(
    private readonly config: Config,
    private readonly containers: SandboxContainers,
    private readonly sandboxes: Sandboxes,
  ) {}

  get size(): number {
    return this.#idle.length;
  }

  /** Claims a waiting sandbox with this image and profile, if there is one. */
  claim({ image, profile }: Launch): Sandbox | undefined {
    const isDefault = (image ?? this.config.image) === this.config.image;
    if (!isDefault || profile !== defaultProfile) return undefined;
    const sandbox = this.#idle.shift();
    this.refill();
    return sandbox;
  }

  /** Removes a sandbox that died. */
  drop(sandbox: Sandbox): void {
    const index = this.#idle.indexOf(sandbox);
    if (index >= 0) this.#idle.splice(index, 1);
    this.refill();
  }

  /** Fills the pool, one sandbox at a time and only while nothing else is starting. */
  refill(): void {
    if (this.#closing.signal.aborted || this.#filling || this.#idle.length >= this.config.pool)
      return;
    this.#filling = this.#fill().finally(() => {
      this.#filling = undefined;
      if (this.#idle.length < this.config.pool) this.refill();
    });
  }

  /** Ends the waiting sandboxes. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#filling;
    await Promise.all(
      this.#idle.splice(0).map((sandbox) => this.containers.dispose(sandbox, { files: true })),
    );
  }

  async #fill(): Promise<void> {
    while (this.#idle.length < this.config.pool && !this.#closing.signal.aborted) {
      if (!(await this.#pause(busyDelayMs))) return;
      if (this.containers.busy > 0) continue;
      const sandbox = this.sandboxes.add();
      try {
        await this.containers.launch(sandbox, { profile: defaultProfile });
        sandbox.waitForSession();
        this.#idle.push(sandbox);
        this.#failure = '';
      } catch (error) {
        await this.containers.discard(sandbox, { files: true });
        this.sandboxes.remove(sandbox);
        this.#report((error as Error).message);
        await this.#pause(failedDelayMs);
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
  #report(failure: string): void {
    if (failure === this.#failure || this.#closing.signal.aborted) return;
    this.#failure = failure;
    this.#logger.warn(`No sandbox can be kept ready: ${failure}`);
  }
}
