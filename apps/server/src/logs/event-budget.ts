import { AppError } from '@belay/protocol';
import type { Config } from '../config.js';
import { FreeSpace } from '../storage/free-space.js';
import type { SessionsStore } from './sessions.store.js';

/**
 * Limits what agents add to the logs of their sessions. At its limit a session waits as it does with a full disk, and
 * its agent keeps the events. Events of the user and the server are always stored, so that the session can be stopped.
 */
export class EventBudget {
  readonly #limit: number;
  readonly #space: FreeSpace;
  /** Log size of each session whose agent has written since the server’s start. */
  readonly #used = new Map<string, number>();

  constructor(
    { sessionLogBytes, ...config }: Pick<Config, 'sessionLogBytes' | 'keepFreeBytes' | 'data'>,
    private readonly store: SessionsStore,
  ) {
    this.#limit = sessionLogBytes;
    this.#space = new FreeSpace(config);
  }

  /** Throws `disk_full`, with a remedy, when the session’s agent may add nothing now. */
  async require(session: string): Promise<void> {
    await this.#space.require();
    const used = this.#used.get(session) ?? (await this.store.bytesOf(session));
    if (!this.#used.has(session)) this.#used.set(session, used);
    if (used < this.#limit) return;
    const megabytes = this.#limit / 2 ** 20;
    throw new AppError(
      'disk_full',
      `The log of the session has reached its limit of ${megabytes} MiB. Raise BELAY_SESSION_LOG_MB and start the server again, or stop the session.`,
      { session },
    );
  }

  /** Adds the size of stored events. */
  add(session: string, bytes: number): void {
    const used = this.#used.get(session);
    if (used !== undefined) this.#used.set(session, used + bytes);
  }

  forget(session: string): void {
    this.#used.delete(session);
  }
}
