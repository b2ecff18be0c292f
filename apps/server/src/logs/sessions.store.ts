import { Injectable } from '@nestjs/common';
import { isCall, type Event, type EventAction } from '@belay/protocol';
import { sql } from 'kysely';
import { blobsIn, copyBlobUses, releaseBlobs, useBlobs } from '../storage/blob-uses.js';
import { Database } from '../storage/database.js';
import type { DatabaseConnection } from '../storage/database-schema.js';
import { lease } from '../storage/lease.js';
import { serverId } from '../server-id.js';
import { pageEnd } from './chained-rows.js';
import { eventOfRow } from './event-of-row.js';
import { removeTexts } from './event-text.js';
import { noteHeads } from './note-heads.js';
import { OwnerRows } from './owner-rows.js';
import {
  columnsOf,
  isAsStored,
  sessionMarks,
  sessionRecord,
  type SessionRecord,
} from './session-record.js';
import { insertRows, type WrittenEvent } from './written-event.js';

/** Events with numbers above `after`; all of them without a limit. */
export interface EventRange {
  after: number;
  limit?: number;
}

/** Events copied from another session; `from` is null for a conversation that was elsewhere, which has no blobs. */
export interface Copied {
  from: string | null;
  events: Event[];
}

/** How many sessions are read by one query. */
const mostAtOnce = 1_000;

/** The tables of sessions and events. The rules are in `EventLog`. */
@Injectable()
export class SessionsStore {
  readonly owners: OwnerRows;

  constructor(private readonly database: Database) {
    this.owners = new OwnerRows(database);
  }

  /** Throws `unavailable` when another server may work on the sessions now. */
  async transaction<T>(work: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    lease.assertHeld();
    return this.database.kysely.transaction().execute(work);
  }

  async find(id: string): Promise<SessionRecord | undefined> {
    await this.database.migrated();
    const row = await this.database.kysely
      .selectFrom('session')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && sessionRecord(row);
  }

  async all(): Promise<SessionRecord[]> {
    await this.database.migrated();
    const rows = await this.database.kysely.selectFrom('session').selectAll().execute();
    return rows.map(sessionRecord);
  }

  /** All sessions, by their id. Those that are as they are `known` are not read again. */
  async changed(
    known: ReadonlyMap<string, SessionRecord>,
  ): Promise<ReadonlyMap<string, SessionRecord>> {
    await this.database.migrated();
    const { kysely } = this.database;
    const marks = await kysely.selectFrom('session').select(sessionMarks).execute();
    const changed = marks.filter((mark) => !isAsStored(known.get(mark.id), mark));
    const rows = kysely.selectFrom('session').selectAll();
    const read = new Map<string, SessionRecord>();
    for (let at = 0; at < changed.length; at += mostAtOnce) {
      const ids = changed.slice(at, at + mostAtOnce).map(({ id }) => id);
      for (const row of await rows.where('id', 'in', ids).execute())
        read.set(row.id, sessionRecord(row));
    }
    // One that was deleted meanwhile is in neither.
    const all = marks.flatMap(({ id }) => read.get(id) ?? known.get(id) ?? []);
    return new Map(all.map((record) => [record.id, record]));
  }

  /** The server that owns a session; null without one, undefined without such a session. */
  async ownerOf(id: string): Promise<string | null | undefined> {
    const row = await this.database.kysely
      .selectFrom('session')
      .select('owner')
      .where('id', '=', id)
      .executeTakeFirst();
    return row?.owner;
  }

  /** The servers that own sessions, by their session; null for one without an owner. */
  async ownersOf(): Promise<Map<string, string | null>> {
    const rows = await this.database.kysely.selectFrom('session').select(['id', 'owner']).execute();
    return new Map(rows.map(({ id, owner }) => [id, owner]));
  }

  /** How many sessions each server owns; those without any are missing. */
  async ownedByServer(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.database.kysely
      .selectFrom('session')
      .select(({ fn }) => ['owner', fn.countAll<number>().as('count')])
      .where('owner', 'is not', null)
      .groupBy('owner')
      .execute();
    return new Map(rows.map(({ owner, count }) => [owner ?? '', Number(count)]));
  }

  /** The sessions whose logs are not chained yet, without those of other servers. */
  async unchained(): Promise<string[]> {
    await this.database.migrated();
    const rows = this.database.kysely
      .selectFrom('session')
      .select('id')
      .where('head', 'is', null)
      .where((where) => where('owner', 'is', null).or('owner', '=', serverId));
    return (await rows.orderBy('number').execute()).map(({ id }) => id);
  }

  async insert(connection: DatabaseConnection, record: SessionRecord): Promise<void> {
    // The number of another one that begins now is known once that is committed.
    if (this.database.kind === 'postgres')
      await sql`select pg_advisory_xact_lock(hashtextextended('session.number', 0))`.execute(
        connection,
      );
    await connection
      .insertInto('session')
      .values({
        id: record.id,
        created: record.created,
        number: sql`(select coalesce(max(number), 0) + 1 from session)`,
        indexed_seq: 0,
        ...columnsOf(record),
      })
      .execute();
  }

  /** Resolves with false, and changes nothing, when the row is no longer as it was in `before`. */
  async update(
    connection: DatabaseConnection,
    record: SessionRecord,
    before: Pick<SessionRecord, 'term' | 'lastSeq'>,
  ): Promise<boolean> {
    const { numUpdatedRows } = await connection
      .updateTable('session')
      .set(columnsOf(record))
      .where('id', '=', record.id)
      .where('term', '=', before.term)
      .where('last_seq', '=', before.lastSeq)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async insertEvents(
    connection: DatabaseConnection,
    session: string,
    events: readonly WrittenEvent[],
  ): Promise<void> {
    await insertRows(connection, this.database.kind, events);
    await noteHeads(connection, session, events);
    const blobs = new Set(events.flatMap((event) => event.blobs));
    await useBlobs(connection, session, [...blobs]);
  }

  /** Copies references to the blobs that another session has stored and these events name. */
  async copyBlobs(
    connection: DatabaseConnection,
    to: string,
    { from, events }: Copied,
  ): Promise<void> {
    if (from === null) return;
    await copyBlobUses(connection, { from, to }, blobsIn(events.map(({ args }) => args)));
  }

  /** With a limit, at most that many events, fewer when they are large; an empty page means the end of the log. */
  async events(session: string, { after, limit }: EventRange): Promise<Event[]> {
    const { kysely } = this.database;
    const last = limit === undefined ? undefined : await pageEnd(kysely, session, { after, limit });
    if (last === null) return [];
    const rows = await this.#ofSession(session)
      .where('seq', '>', after)
      .$if(last !== undefined, (query) => query.where('seq', '<=', last ?? 0))
      .execute();
    return rows.map(eventOfRow);
  }

  /** The approximate size of a session’s log. */
  async bytesOf(session: string): Promise<number> {
    const { bytes } = await this.database.kysely
      .selectFrom('event')
      .select(sql<number | null>`sum(octet_length(args) + octet_length(message))`.as('bytes'))
      .where('session', '=', session)
      .executeTakeFirstOrThrow();
    return Number(bytes ?? 0);
  }

  /** The events of one call, and the epoch of the agent that began it; null for a user’s call. */
  async ofCall(session: string, call: string): Promise<{ events: Event[]; epoch: number | null }> {
    const found = this.#ofSession(session).where('call', '=', call);
    const events = (await found.execute()).map(eventOfRow);
    const begun = events.find(({ action }) => isCall(action));
    if (!begun) return { events, epoch: null };
    const row = await this.database.kysely
      .selectFrom('event')
      .select('epoch')
      .where('session', '=', session)
      .where('seq', '=', begun.seq)
      .executeTakeFirst();
    return { events, epoch: row?.epoch ?? null };
  }

  /** Those ids that already name a call in the log. */
  async calledIds(
    connection: DatabaseConnection,
    session: string,
    ids: readonly string[],
  ): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    const rows = await connection
      .selectFrom('event')
      .select(['call', 'action'])
      .where('session', '=', session)
      .where('call', 'in', ids)
      .execute();
    return new Set(rows.flatMap(({ call, action }) => (call && isCall(action) ? call : [])));
  }

  /** The events of these actions in a range of the log, in order, as seen by this transaction. */
  async ofActions(
    connection: DatabaseConnection,
    session: string,
    { from, to, actions }: { from: number; to?: number; actions: readonly EventAction[] },
  ): Promise<Event[]> {
    const rows = await this.#ofSession(session, connection)
      .where('seq', '>=', from)
      .$if(to !== undefined, (query) => query.where('seq', '<=', to ?? 0))
      .where('action', 'in', actions)
      .execute();
    return rows.map(eventOfRow);
  }

  /** Whether the latest call of this action before an event was unfinished then, without a new start since. */
  async openCall(
    connection: DatabaseConnection,
    session: string,
    { action, before }: { action: string; before: number },
  ): Promise<boolean> {
    const call = await this.#ofSession(session, connection)
      .where('seq', '<', before)
      .where('action', '=', action)
      .clearOrderBy()
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (!call) return false;
    const { seq } = call;
    const ends = await this.#ofSession(session, connection)
      .where('seq', '>', seq)
      .where('seq', '<', before)
      .where(({ eb, and, or }) =>
        or([
          eb('action', '=', 'start'),
          and([eb('action', '=', 'result'), eb('call', '=', call.call)]),
        ]),
      )
      .limit(1)
      .executeTakeFirst();
    return ends === undefined;
  }

  #ofSession(session: string, connection: DatabaseConnection = this.database.kysely) {
    return connection
      .selectFrom('event')
      .select(['seq', 'time', 'source', 'action', 'args', 'message', 'call'])
      .where('session', '=', session)
      .orderBy('seq');
  }

  /** The first event of one action, or the first one after number `after`. */
  async first(session: string, action: string, after = 0): Promise<Event | undefined> {
    const row = await this.#ofAction(session, action)
      .where('seq', '>', after)
      .limit(1)
      .executeTakeFirst();
    return row && eventOfRow(row);
  }

  /** The last event of one action, up to and including number `before` if given. */
  async latest(session: string, action: string, before?: number): Promise<Event | undefined> {
    const row = await this.#ofAction(session, action)
      .$if(before !== undefined, (query) => query.where('seq', '<=', before ?? 0))
      .clearOrderBy()
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && eventOfRow(row);
  }

  /** Whether an agent has written something after event number `after`. */
  async hasAgentWritten(session: string, after: number): Promise<boolean> {
    const row = await this.#ofSession(session)
      .where('seq', '>', after)
      .where('source', '=', 'agent')
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  #ofAction(session: string, action: string) {
    return this.#ofSession(session).where('action', '=', action);
  }

  /** The seq numbers of stored events of an agent, by their `n`. */
  async seqsOf(
    connection: DatabaseConnection,
    agent: { session: string; epoch: number; from: number; to: number },
  ): Promise<Map<number, number>> {
    const rows = await connection
      .selectFrom('event')
      .select(['n', 'seq'])
      .where('session', '=', agent.session)
      .where('epoch', '=', agent.epoch)
      .where('n', '>=', agent.from)
      .where('n', '<=', agent.to)
      .execute();
    return new Map(rows.map(({ n, seq }) => [Number(n), seq]));
  }

  /** Returns the blobs that the session referenced. */
  async remove(connection: DatabaseConnection, session: string): Promise<string[]> {
    await connection.deleteFrom('event').where('session', '=', session).execute();
    await removeTexts(connection, this.database.kind, session);
    await connection.deleteFrom('session').where('id', '=', session).execute();
    await connection.deleteFrom('session_owner').where('session', '=', session).execute();
    return releaseBlobs(connection, session);
  }
}
