import type { SessionSummary } from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { Fence } from './fence.js';
import type { OwnerRows } from './owner-rows.js';
import type { SessionRecord } from './session-record.js';

type Prepare = (sessions: readonly SessionRecord[]) => Promise<void>;

/**
 * Makes this server the owner of sessions of others, one claim at a time: a session that is stored here, or that an earlier
 * claim has taken, is this server’s in the database before it is known here.
 */
export class OwnerClaims {
  readonly #turns = new Mutex();
  readonly #preparations: Prepare[] = [];

  constructor(
    private readonly rows: OwnerRows,
    private readonly fence: Fence,
    private readonly own: (records: readonly SessionRecord[]) => SessionSummary[],
  ) {}

  /** From now on, `prepare` is called with what was taken, before anybody can use it here. If it rejects, it is called again. */
  prepareBy(prepare: Prepare): void {
    this.#preparations.push(prepare);
  }

  /** Takes the sessions whose servers have ended. */
  left(): Promise<SessionSummary[]> {
    return this.#turns.runExclusive(async () =>
      this.#taken(await this.rows.claimLeft([...this.fence.owned])),
    );
  }

  /** Takes those that were handed over to this server, or that it has lost track of: an answer did not arrive. */
  handed(): Promise<SessionSummary[]> {
    return this.#turns.runExclusive(async () => {
      // Looked at afterwards, so that all that is stored here is known by then, or under way.
      const found = await this.rows.ofThisServer();
      const handed = found.filter((session) => this.fence.isUnknown(session));
      return this.#taken(handed.length > 0 ? await this.rows.claim(handed) : []);
    });
  }

  async #taken(records: readonly SessionRecord[]): Promise<SessionSummary[]> {
    for (const prepare of this.#preparations) await prepare(records);
    return this.own(records);
  }
}
