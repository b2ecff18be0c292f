import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Database, notStored } from '../../../storage/database.js';

/** Where polling of one list goes on. */
export interface PollCursor {
  etag: string | null;
  since: string | null;
  seen: readonly string[];
  nextAt: string;
}

const seenIds = z.array(z.string().max(1_000)).max(10_000).catch([]);

/** The table of where polling goes on, for each list of a followed repository. */
@Injectable()
export class PollCursorRows {
  constructor(private readonly database: Database) {}

  async of(source: string, endpoint: string): Promise<PollCursor | undefined> {
    const row = await this.database.kysely
      .selectFrom('poll_cursor')
      .selectAll()
      .where('source', '=', source)
      .where('endpoint', '=', endpoint)
      .executeTakeFirst();
    if (!row) return undefined;
    const { etag, since, seen, next_at: nextAt } = row;
    return { etag, since, seen: seenIds.parse(JSON.parse(seen)), nextAt };
  }

  async set(source: string, endpoint: string, cursor: PollCursor): Promise<void> {
    const { etag, since, seen, nextAt } = cursor;
    const change = { etag, since, seen: JSON.stringify(seen), next_at: nextAt };
    await this.database.kysely
      .insertInto('poll_cursor')
      .values({ source, endpoint, ...change })
      .onConflict((conflict) => conflict.columns(['source', 'endpoint']).doUpdateSet(change))
      .execute()
      .catch(notStored);
  }
}
