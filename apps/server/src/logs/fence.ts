import { AppError } from '@belay/protocol';
import { isTwice, storageError } from '../storage/database.js';
import type { DatabaseConnection } from '../storage/database-schema.js';
import type { SessionRecord } from './session-record.js';
import type { SessionRecords } from './session-records.js';
import type { SessionsStore } from './sessions.store.js';

/** An append was based on an outdated state of its session. */
class Fenced extends Error {}

/**
 * Lets only one server at a time continue the log of a session. The first append of each server raises the session’s
 * term; whoever knows an earlier term, or other last events, stores nothing.
 */
export class Fence {
  /** Sessions whose present term is of this server, with the last event before it. */
  readonly #owned = new Map<string, number>();

  constructor(
    private readonly store: SessionsStore,
    private readonly records: SessionRecords,
  ) {}

  /** Stores a changed record if the row is still as it is known here, and returns it with its term. */
  async update(connection: DatabaseConnection, record: SessionRecord): Promise<SessionRecord> {
    const { id, term } = record;
    const next = this.#owned.has(id) ? record : { ...record, term: term + 1 };
    const lastSeq = this.records.known(id)?.lastSeq ?? 0;
    if (await this.store.update(connection, next, { term, lastSeq })) return next;
    throw new Fenced();
  }

  /** The record was stored. */
  set(record: SessionRecord): void {
    if (!this.#owned.has(record.id))
      this.#owned.set(record.id, this.records.known(record.id)?.lastSeq ?? 0);
    this.records.set(record);
  }

  /** The last event that another server may have written; all of them while this one has written none. */
  before(session: string): number {
    return this.#owned.get(session) ?? Infinity;
  }

  /** Of a session whose present term is of this server. */
  term(session: string): number | undefined {
    return this.#owned.has(session) ? this.records.known(session)?.term : undefined;
  }

  delete(session: string): void {
    this.records.delete(session);
    this.#owned.delete(session);
  }

  /** The error for those whose appends failed. What is known of fenced sessions is outdated, and is read anew. */
  failureOf(error: unknown, sessions: Iterable<string>): unknown {
    if (!isFenced(error)) return storageError(error);
    for (const session of sessions) this.delete(session);
    return new AppError(
      'unavailable',
      'The session was changed in the database meanwhile: try again. If that does not help, another server uses this database: let only one of them run.',
    );
  }
}

/** Also when the number of an event was taken: some appends insert events before their session is updated. */
function isFenced(error: unknown): boolean {
  return error instanceof Fenced || isTwice(error);
}
