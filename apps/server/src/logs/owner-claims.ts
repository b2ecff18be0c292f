import type { SessionSummary } from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { Fence } from './fence.js';
import type { OwnerRows } from './owner-rows.js';
import type { SessionRecord } from './session-record.js';

/**
 * Makes this server the owner of sessions of others, one claim at a time: a session that is stored here, or that an earlier
 * claim has taken, is this server’s in the database before it is known here.
 */
export class OwnerClaims {
  readonly #turns = new Mutex();

  constructor(
    private readonly rows: OwnerRows,
    private readonly fence: Fence,
    private readonly own: (records: readonly SessionRecord[]) => SessionSummary[],
  ) {}

  /** Takes the sessions whose servers have ended. */
  left(): Promise<SessionSummary[]> {
    return this.#turns.runExclusive(async () =>
      this.own(await this.rows.claimLeft([...this.fence.owned])),
    );
  }

  /** Takes those that were handed over to this server, or that it has lost track of: an answer did not arrive. */
  handed(): Promise<SessionSummary[]> {
    return this.#turns.runExclusive(async () => {
      // Looked at afterwards, so that all that is stored here is known by then, or under way.
      const found = await this.rows.ofThisServer();
      const handed = found.filter((session) => this.fence.isUnknown(session));
      return this.own(handed.length > 0 ? await this.rows.claim(handed) : []);
    });
  }
}
