import { belayVersion } from '@belay/protocol';
import { sql, type Kysely } from 'kysely';
import type { DatabaseSchema, ServerTable } from '../storage/database-schema.js';
import { databaseNow as now, sinceWhenAlive } from '../storage/live-servers.js';
import { endConnections } from '../storage/postgres.js';
import { ownLoad } from '../storage/server-load.js';

/** The server that works on the sessions, or last did. */
export interface LeaseHolder extends Pick<ServerTable, 'id' | 'address' | 'files' | 'version'> {
  key: string;
  isAlive: boolean;
}

/** Rows of servers that were killed are of no use after this time. */
const forgetMs = 3_600_000;

const lease = 'sessions';

/** The rows of the servers of a database, and its lease. Times are those of the database’s clock. */
export class ServerRows {
  constructor(
    private readonly kysely: Kysely<DatabaseSchema>,
    readonly own: Pick<ServerTable, 'id' | 'address' | 'files' | 'key'>,
  ) {}

  /** Whether this server does not share the database: no other one can reach it. */
  get isAlone(): boolean {
    return this.own.address === null;
  }

  async add(): Promise<void> {
    await this.kysely
      .deleteFrom('server')
      .where('beat', '<', sql<number>`${now} - ${forgetMs}`)
      .execute();
    const server = { ...this.own, ...ownLoad.now, version: belayVersion, beat: now };
    await this.kysely.insertInto('server').values(server).execute();
  }

  /**
   * Shows that this server is alive, and its load. Resolves with false, and does nothing, when others do not know it any
   * more, or take it for ended because its last beat is too long ago, unless it `mayBeLate`.
   */
  async beat({ mayBeLate }: { mayBeLate: boolean }): Promise<boolean> {
    const own = this.kysely
      .updateTable('server')
      .set({ ...ownLoad.now, beat: now })
      .where('id', '=', this.own.id);
    const beat = mayBeLate ? own : own.where('beat', '>=', sinceWhenAlive);
    return (await beat.executeTakeFirst()).numUpdatedRows > 0n;
  }

  /** Undefined when nobody has the lease: it was given back, or never taken. */
  async holder(): Promise<LeaseHolder | undefined> {
    return this.kysely
      .selectFrom('lease')
      .innerJoin('server', 'server.id', 'lease.server')
      .select(['server.id', 'address', 'files', 'version', 'key'])
      .select(sql<boolean>`server.beat >= ${sinceWhenAlive}`.as('isAlive'))
      .where('lease.name', '=', lease)
      .executeTakeFirst();
  }

  /** The address of a server that shares this database, but not the files of this server; undefined if there is none. */
  async stranger(): Promise<string | undefined> {
    const row = await this.kysely
      .selectFrom('server')
      .select('address')
      .where('files', '!=', this.own.files)
      .where('beat', '>=', sinceWhenAlive)
      .where('address', 'is not', null)
      .executeTakeFirst();
    return row?.address ?? undefined;
  }

  /** Takes the lease from a server that is no longer alive, or from nobody. Resolves with false when another one has it. */
  async take(): Promise<boolean> {
    const { term, server } = await this.kysely
      .selectFrom('lease')
      .select(['term', 'server'])
      .where('name', '=', lease)
      .executeTakeFirstOrThrow();
    const holder = await this.holder();
    // An earlier attempt did, and its answer was lost.
    if (holder?.id === this.own.id) return true;
    if (holder?.isAlive && !this.#isPredecessor(holder)) return false;
    const { numUpdatedRows } = await this.kysely
      .updateTable('lease')
      .set({ server: this.own.id, term: term + 1 })
      .where('name', '=', lease)
      .where('term', '=', term)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    if (server !== null) await endConnections(this.kysely, [server]);
    return true;
  }

  /** For another server to take, which need not wait then. */
  async leave(): Promise<void> {
    await this.kysely
      .updateTable('lease')
      .set({ server: null })
      .where('name', '=', lease)
      .where('server', '=', this.own.id)
      .execute();
    await this.kysely.deleteFrom('server').where('id', '=', this.own.id).execute();
  }

  /** The lock of the data folder shows that it has ended. */
  #isPredecessor({ address, files }: LeaseHolder): boolean {
    return this.isAlone && address === null && files === this.own.files;
  }
}
