import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Event } from '@belay/protocol';
import { Mutex } from 'async-mutex';
import { sees, seesAll, type Caller } from '../access/caller.js';
import { Database, storageError } from '../storage/database.js';
import { findTexts, insertTexts, type TextMatch } from '../logs/event-text.js';
import { SessionsStore } from '../logs/sessions.store.js';
import { isDiskFull } from '../logs/stalls.js';

/** Events indexed in one batch, which blocks the event loop. */
const batch = 500;
/** The searchable length of one event’s text; the log has the rest. */
const maxText = 20_000;

/** Full-text search over all logs. The index is updated by searches, so that appends stay cheap. */
@Injectable()
export class Search implements OnModuleInit {
  readonly #logger = new Logger(Search.name);
  readonly #indexing = new Mutex();
  readonly #skipped = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly store: SessionsStore,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.database.migrated();
  }

  /** At most `limit` events that contain all words of the query, in sessions that the caller sees; see `findTexts`. */
  async find(query: string, caller: Caller, limit = 100): Promise<TextMatch[]> {
    const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
    if (words.length === 0) return [];
    await this.#indexing.runExclusive(() => this.#index());
    const { kysely, kind } = this.database;
    const sessions = seesAll(caller) ? undefined : await this.#seenBy(caller);
    return findTexts(kysely, kind, { words, limit, sessions });
  }

  async #seenBy(caller: Caller): Promise<string[]> {
    const rows = await this.database.kysely.selectFrom('session').select('id').execute();
    return rows.map(({ id }) => id).filter((id) => sees(caller, id));
  }

  async #index(): Promise<void> {
    const behind = await this.database.kysely
      .selectFrom('session')
      .select(['id', 'indexed_seq'])
      .whereRef('indexed_seq', '<', 'last_seq')
      .execute();
    for (const { id, indexed_seq } of behind) {
      // An error while indexing one session must not hide results from the others.
      await this.#indexSession(id, indexed_seq).catch((error: unknown) => this.#skip(id, error));
    }
  }

  #skip(session: string, error: unknown): void {
    if (isDiskFull(storageError(error))) throw error;
    if (this.#skipped.has(session)) return;
    this.#skipped.add(session);
    this.#logger.error({ error, session });
  }

  async #indexSession(session: string, from: number): Promise<void> {
    for (let after = from; ;) {
      const events = await this.store.events(session, { after, limit: batch });
      const last = events.at(-1)?.seq;
      if (last === undefined) return;
      const texts = events
        .map((event) => ({ seq: event.seq, text: textOf(event) }))
        .filter(({ text }) => text !== '');
      await this.store.transaction(async (connection) => {
        // A session that was deleted meanwhile is not indexed again.
        const { numUpdatedRows } = await connection
          .updateTable('session')
          .set({ indexed_seq: last })
          .where('id', '=', session)
          .where('indexed_seq', '=', after)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return;
        await insertTexts(connection, this.database.kind, { session, texts });
      });
      after = last;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Events that only repeat others or report numbers. */
const unsearched = new Set(['replaced', 'request', 'usage', 'state', 'terminal', 'retry']);

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
