import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Event } from '@belay/protocol';
import { sql } from 'kysely';
import { Database } from '../storage/database.js';
import { SessionStore } from '../logs/session.store.js';

export interface Found {
  session: string;
  seq: number;
  excerpt: string;
}

const batch = 2_000;
/** What is found of one event's text; the rest is in the log. */
const maxText = 20_000;

/** Full-text search over all logs. The index follows the logs when it is asked, so that appends cost nothing. */
@Injectable()
export class Search implements OnModuleInit {
  private indexing: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly store: SessionStore,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.database.migrated();
  }

  /** All words of the query must occur; the last one may be a beginning. Newest sessions first. */
  async find(query: string, limit = 100): Promise<Found[]> {
    const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
    if (words.length === 0) return [];
    this.indexing = this.indexing.catch(() => undefined).then(() => this.index());
    await this.indexing;
    return this.database.kind === 'sqlite'
      ? this.findInSqlite(words, limit)
      : this.findInPostgres(words, limit);
  }

  private async findInSqlite(words: string[], limit: number): Promise<Found[]> {
    const match = `${words.map((word) => `"${word}"`).join(' ')}*`;
    const { rows } = await sql<Found>`
      select session, seq, snippet(event_text, 2, '', '', '…', 24) as excerpt
      from event_text where event_text match ${match}
      order by session desc, seq desc limit ${limit}`.execute(this.database.kysely);
    return rows;
  }

  private async findInPostgres(words: string[], limit: number): Promise<Found[]> {
    const match = `${words.join(' & ')}:*`;
    const { rows } = await sql<Found>`
      select session, seq, ts_headline('simple', text, to_tsquery('simple', ${match}),
        'StartSel="", StopSel="", MaxFragments=1, MaxWords=24, MinWords=8') as excerpt
      from event_text where to_tsvector('simple', text) @@ to_tsquery('simple', ${match})
      order by session desc, seq desc limit ${limit}`.execute(this.database.kysely);
    return rows;
  }

  private async index(): Promise<void> {
    const behind = await this.database.kysely
      .selectFrom('session')
      .select(['id', 'indexed_seq'])
      .whereRef('indexed_seq', '<', 'last_seq')
      .execute();
    for (const { id, indexed_seq } of behind) await this.indexSession(id, indexed_seq);
  }

  private async indexSession(session: string, from: number): Promise<void> {
    for (let after = from; ;) {
      const events = await this.store.events(session, { after, limit: batch });
      const last = events.at(-1)?.seq;
      if (last === undefined) return;
      const rows = events
        .map((event) => ({ session, seq: event.seq, text: textOf(event) }))
        .filter((row) => row.text !== '');
      await this.store.transaction(async (connection) => {
        // A session that was deleted meanwhile is not indexed again.
        const { numUpdatedRows } = await connection
          .updateTable('session')
          .set({ indexed_seq: last })
          .where('id', '=', session)
          .where('indexed_seq', '=', after)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return;
        for (let at = 0; at < rows.length; at += 500) {
          await connection
            .insertInto('event_text')
            .values(rows.slice(at, at + 500))
            .execute();
        }
      });
      after = last;
    }
  }
}

/** Facts that only repeat others, or count. */
const unsearched = new Set(['usage', 'state', 'terminal', 'retry']);

function textOf(event: Event): string {
  if (unsearched.has(event.action)) return '';
  const texts: string[] = [event.message];
  collect(event.args, texts);
  return texts.join('\n').slice(0, maxText).toWellFormed().replaceAll('\0', ' ');
}

function collect(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value);
  else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) collect(part, texts);
  }
}
