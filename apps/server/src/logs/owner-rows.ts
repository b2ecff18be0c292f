import type { Selectable } from 'kysely';
import type { Database } from '../storage/database.js';
import type { SessionTable } from '../storage/database-schema.js';
import { lease } from '../storage/lease.js';
import { sinceWhenAlive } from '../storage/live-servers.js';
import { endConnections } from '../storage/postgres.js';
import { serverId } from '../server-id.js';
import { sessionRecord, type SessionRecord } from './session-record.js';

/** The owners of sessions, in their rows. The rules are in `OwnerClaims`. */
export class OwnerRows {
  constructor(private readonly database: Database) {}

  /**
   * Makes this server the owner of the sessions of servers that are not alive, except of those that it `owns`; begins a
   * term of each, and returns them.
   */
  async claimLeft(owns: readonly string[]): Promise<SessionRecord[]> {
    await this.database.migrated();
    const claim = this.#claim();
    const left = owns.length > 0 ? claim.where('id', 'not in', owns) : claim;
    // A server with SQLite is the only one of its folder.
    if (this.database.kind === 'sqlite') return claimed(left.where('owner', 'is not', null));
    const ended = await this.#ended();
    if (ended.length === 0) return [];
    // Transactions of one that was stopped would hold locks on its sessions.
    const others = ended.filter((server) => server !== serverId);
    await endConnections(this.database.kysely, others);
    return claimed(left.where('owner', 'in', ended));
  }

  /** The sessions of this server. */
  async ofThisServer(): Promise<string[]> {
    await this.database.migrated();
    const own = this.database.kysely.selectFrom('session').where('owner', '=', serverId);
    return (await own.select('id').execute()).map(({ id }) => id);
  }

  /** Begins a term of those of these sessions that are still this server’s, and returns them. */
  claim(sessions: readonly string[]): Promise<SessionRecord[]> {
    return claimed(this.#claim().where('owner', '=', serverId).where('id', 'in', sessions));
  }

  #claim() {
    return this.database.kysely
      .updateTable('session')
      .set(({ eb, ref }) => ({
        owner: serverId,
        term: eb('term', '+', 1),
        term_seq: ref('last_seq'),
      }))
      .returningAll();
  }

  /** The owners of sessions that are not alive. One without an address was alone: it has ended, even if just now. */
  async #ended(): Promise<string[]> {
    const { kysely } = this.database;
    const alive = kysely
      .selectFrom('server')
      .select('server.id')
      .where('beat', '>=', sinceWhenAlive)
      .where('address', 'is not', null);
    const rows = await kysely
      .selectFrom('session')
      .select('owner')
      .distinct()
      .where('owner', 'is not', null)
      .where('owner', 'not in', alive)
      .execute();
    return rows.flatMap(({ owner }) => owner ?? []);
  }
}

async function claimed(claim: {
  execute(): Promise<Selectable<SessionTable>[]>;
}): Promise<SessionRecord[]> {
  lease.assertHeld();
  return (await claim.execute()).map(sessionRecord);
}
