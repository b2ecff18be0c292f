import { Injectable } from '@nestjs/common';
import type { Event } from '@belay/protocol';
import { sql, type Selectable } from 'kysely';
import { blobsIn, releaseBlobs, useBlobs } from '../storage/blob-uses.js';
import { Database } from '../storage/database.js';
import type { Connection, EventTable } from '../storage/schema.js';
import { removeTexts } from './event-text.js';
import { columnsOf, recordOf, type SessionRecord } from './session-record.js';

/** An event as it is stored: with whose it is, when an agent wrote it. */
export interface StoredEvent {
  event: Event;
  agent: { epoch: number; n: number } | null;
}

/** The tables of sessions and events. Knows no rule of the platform; `EventLog` does. */
@Injectable()
export class SessionStore {
  constructor(private readonly database: Database) {}

  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.database.kysely.transaction().execute(work);
  }

  async find(id: string): Promise<SessionRecord | undefined> {
    await this.database.migrated();
    const row = await this.database.kysely
      .selectFrom('session')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && recordOf(row);
  }

  async all(): Promise<SessionRecord[]> {
    await this.database.migrated();
    const rows = await this.database.kysely.selectFrom('session').selectAll().execute();
    return rows.map(recordOf);
  }

  async insert(connection: Connection, record: SessionRecord): Promise<void> {
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

  async update(connection: Connection, record: SessionRecord): Promise<void> {
    await connection
      .updateTable('session')
      .set(columnsOf(record))
      .where('id', '=', record.id)
      .execute();
  }

  /** One statement with one parameter, however many rows: several times quicker than a row each. */
  async insertEvents(
    connection: Connection,
    session: string,
    events: readonly StoredEvent[],
  ): Promise<void> {
    const rows = JSON.stringify(events.map(rowOf));
    const source =
      this.database.kind === 'sqlite'
        ? sql`json_each(${rows}) as row`
        : sql`json_array_elements(${rows}::json) as row(value)`;
    await sql`insert into event
      (session, seq, time, source, action, args, message, call, epoch, n)
      select ${this.database.kind === 'sqlite' ? sql`${session}` : sql`${session}::text`},
        cast(row.value->>0 as integer), row.value->>1, row.value->>2, row.value->>3,
        row.value->>4, row.value->>5, row.value->>6,
        cast(row.value->>7 as integer), cast(row.value->>8 as integer)
      from ${source} order by 2`.execute(connection);
    await useBlobs(connection, session, blobsIn(events.map(({ event }) => event.args)));
  }

  async events(session: string, range: { after: number; limit?: number }): Promise<Event[]> {
    const rows = await this.ofSession(session)
      .where('seq', '>', range.after)
      .$if(range.limit !== undefined, (query) => query.limit(range.limit ?? 0))
      .execute();
    return rows.map(eventOf);
  }

  /** The events that belong to one call. */
  async ofCall(session: string, call: string): Promise<Event[]> {
    return (await this.ofSession(session).where('call', '=', call).execute()).map(eventOf);
  }

  private ofSession(session: string) {
    return this.database.kysely
      .selectFrom('event')
      .select(['seq', 'time', 'source', 'action', 'args', 'message', 'call'])
      .where('session', '=', session)
      .orderBy('seq');
  }

  /** The first event of one action. */
  async first(session: string, action: string): Promise<Event | undefined> {
    const row = await this.ofAction(session, action).orderBy('seq').limit(1).executeTakeFirst();
    return row && (await this.events(session, { after: row.seq - 1, limit: 1 }))[0];
  }

  /** The last event of one action, up to `before` when that is given. */
  async latest(session: string, action: string, before?: number): Promise<Event | undefined> {
    const row = await this.ofAction(session, action)
      .$if(before !== undefined, (query) => query.where('seq', '<=', before ?? 0))
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && (await this.events(session, { after: row.seq - 1, limit: 1 }))[0];
  }

  private ofAction(session: string, action: string) {
    return this.database.kysely
      .selectFrom('event')
      .select('seq')
      .where('session', '=', session)
      .where('action', '=', action);
  }

  /** The numbers under which events of an agent are stored already, by their `n`. */
  async seqsOf(
    connection: Connection,
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

  /** Answers the blobs that the session needed. */
  async remove(connection: Connection, session: string): Promise<string[]> {
    await connection.deleteFrom('event').where('session', '=', session).execute();
    await removeTexts(connection, this.database.kind, session);
    await connection.deleteFrom('session').where('id', '=', session).execute();
    return releaseBlobs(connection, session);
  }
}

type EventRow = Pick<
  Selectable<EventTable>,
  'seq' | 'time' | 'source' | 'action' | 'args' | 'message' | 'call'
>;

const eventOf = ({ call, args, ...row }: EventRow): Event =>
  ({
    ...row,
    args: JSON.parse(args) as Record<string, unknown>,
    ...(call !== null && { id: call }),
  }) as Event;

/** PostgreSQL stores neither NUL nor half a surrogate pair in text; JSON escapes both in `args`. */
const plain = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

function rowOf({ event, agent }: StoredEvent): unknown[] {
  return [
    event.seq,
    event.time,
    event.source,
    plain(event.action),
    JSON.stringify(event.args),
    plain(event.message),
    event.id === undefined ? null : plain(event.id),
    agent?.epoch ?? null,
    agent?.n ?? null,
  ];
}
