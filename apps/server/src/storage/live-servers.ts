import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Config } from '../config.js';
import { Database } from './database.js';
import { serverId } from '../server-id.js';
import type { ServerLoad } from './server-load.js';

/** How long a server that cannot store its beats counts as alive, in milliseconds. */
export const claimMs = 5_000;
/** The database’s clock, in milliseconds since 1970. */
export const databaseNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
export const sinceWhenAlive = sql<number>`${databaseNow} - ${claimMs}::bigint`;

/** Another server of the database that is alive, and how it is reached. */
export interface LiveServer extends ServerLoad {
  id: string;
  /** HOST:PORT of its peer port. */
  address: string;
  /** With this, connections are passed on to it. */
  key: string;
  /** Whether it leads the servers of the database. */
  leads: boolean;
}

/** The servers that share a database with this one. */
@Injectable()
export class LiveServers {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** Whether there may be others. */
  get isShared(): boolean {
    return this.config.peerAddress !== undefined;
  }

  /** Those that are alive now, without this one. */
  async others(): Promise<LiveServer[]> {
    if (!this.isShared) return [];
    const rows = await this.database.kysely
      .selectFrom('server')
      .leftJoin('lease', 'lease.server', 'server.id')
      .select(['server.id', 'address', 'key', 'instance', 'sandboxes', 'capacity'])
      .select('lease.name as leads')
      .where('server.id', '!=', serverId)
      .where('beat', '>=', sinceWhenAlive)
      .where('address', 'is not', null)
      .execute();
    return rows.map(({ address, leads, ...row }) => ({
      ...row,
      address: address ?? '',
      leads: leads !== null,
    }));
  }

  /** Whether a server has its containers on the engine of this one; false while it has not said so. */
  sharesEngine({ instance }: Pick<LiveServer, 'instance'>): boolean {
    return instance === this.config.instance;
  }

  /** The ids of those that are alive now, without this one. */
  async otherIds(): Promise<ReadonlySet<string>> {
    return new Set((await this.others()).map(({ id }) => id));
  }
}
