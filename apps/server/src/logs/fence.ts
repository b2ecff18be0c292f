import { AppError } from '@belay/protocol';
import { isTwice, storageError } from '../storage/database.js';
import type { DatabaseConnection } from '../storage/database-schema.js';
import { serverId } from '../server-id.js';
import type { SessionRecord } from './session-record.js';
import type { SessionRecords } from './session-records.js';
import type { SessionsStore } from './sessions.store.js';

/** An append was based on an outdated state of its session. */
class Fenced extends Error {}

/**
 * Lets only one server at a time continue the log of a session, its owner. Whoever becomes that raises the session’s
 * term, by a claim or by its first append; who knows an earlier term, or other last events, stores nothing.
 */
export class Fence {
  /** Sessions whose present term was begun here. */
  readonly #owned = new Set<string>();
  /** Sessions of which something is being stored, after which this server may own them. */
  readonly #storing = new Set<ReadonlySet<string>>();

  constructor(
    private readonly store: SessionsStore,
    private readonly records: SessionRecords,
    private readonly isShared: boolean,
    /** Called with a session once this server owns it: others may have written what is kept in memory about it. */
    private readonly begun: (session: string) => void,
  ) {}

  /** The sessions that this server owns. */
  get owned(): ReadonlySet<string> {
    return this.#owned;
  }

  /**
   * Stores a changed record if the row is still as `before`, and returns it with its term. Throws `unavailable` for a
   * session that another server owns.
   */
  async update(
    connection: DatabaseConnection,
    record: SessionRecord,
    before: SessionRecord,
  ): Promise<SessionRecord> {
    const { id, term, lastSeq } = before;
    const isOwned = this.#owned.has(id);
    if (!isOwned && before.owner !== null && before.owner !== serverId) throw elsewhere();
    const next = isOwned
      ? record
      : { ...record, owner: serverId, term: term + 1, termSeq: lastSeq };
    if (await this.store.update(connection, next, { term, lastSeq })) return next;
    throw new Fenced();
  }

  /**
   * A record that was changed already in this transaction, for the next change: a session that goes on is not released.
   * Throws `unavailable` for one that was handed over.
   */
  again(record: SessionRecord): SessionRecord {
    if (record.owner !== null && record.owner !== serverId) throw elsewhere();
    return { ...record, owner: serverId };
  }

  /** Stores something of these sessions, and then calls `set`; no claim takes them meanwhile. */
  async storing<T>(sessions: Iterable<string>, work: () => Promise<T>): Promise<T> {
    const stored = new Set(sessions);
    this.#storing.add(stored);
    try {
      return await work();
    } finally {
      this.#storing.delete(stored);
    }
  }

  /** Whether this server does not own a session, nor is about to. */
  isUnknown(session: string): boolean {
    if (this.#owned.has(session)) return false;
    return [...this.#storing].every((stored) => !stored.has(session));
  }

  /** The record was stored. */
  set(record: SessionRecord): void {
    const begins = record.owner === serverId && !this.#owned.has(record.id);
    if (record.owner === serverId) this.#owned.add(record.id);
    else this.#owned.delete(record.id);
    if (this.isShared && record.owner !== serverId) this.records.delete(record.id);
    else this.records.set(record);
    if (begins) this.begun(record.id);
  }

  /** The last event that another server may have written; all of them unless this one is the owner. */
  before(session: string): number {
    return this.#record(session)?.termSeq ?? Infinity;
  }

  /** Of a session whose present term is of this server. */
  term(session: string): number | undefined {
    return this.#record(session)?.term;
  }

  delete(session: string): void {
    this.records.delete(session);
    this.#owned.delete(session);
  }

  /** The error for those whose appends failed. What is known of fenced sessions is outdated, and is read anew. */
  failureOf(error: unknown, sessions: Iterable<string>): unknown {
    if (error instanceof AppError) return error;
    if (!isFenced(error)) return storageError(error);
    for (const session of sessions) this.delete(session);
    return new AppError(
      'unavailable',
      'The session was changed in the database meanwhile: try again. If that does not help, another server uses this database: let only one of them run.',
    );
  }

  #record(session: string): SessionRecord | undefined {
    return this.#owned.has(session) ? this.records.known(session) : undefined;
  }
}

/** Also when the number of an event was taken: some appends insert events before their session is updated. */
function isFenced(error: unknown): boolean {
  return error instanceof Fenced || isTwice(error);
}

const elsewhere = (): AppError =>
  new AppError('unavailable', 'Another server works on this session: try again.');
