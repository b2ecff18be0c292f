import { chainDigest, chainFields, contentDigest } from '@belay/proof';
import { isEnded, isEvent, type Event, type EventOf } from '@belay/protocol';
import { CompiledQuery } from 'kysely';
import { blobsIn } from '../storage/blob-uses.js';
import type { Database } from '../storage/database.js';
import type { DatabaseConnection, EventTable, LogHeadTable } from '../storage/database-schema.js';

/** An event to store, with the agent that wrote it, if one did. */
export interface StoredEvent {
  event: Event;
  agent: { epoch: number; n: number } | null;
}

/** An event prepared for the database. */
export interface WrittenEvent {
  /** The values of `columns`. */
  values: readonly (string | number | null)[];
  /** Of this event and all before it; null in a log that is not chained yet. */
  digest: string | null;
  /** Why the log’s head is noted at this event; most are not. */
  noted: LogHeadTable['why'] | undefined;
  /** Its approximate size in the log. */
  bytes: number;
  /** The blobs that the user attached with it. Blobs named by an agent or a tool belong to the session already. */
  blobs: string[];
}

const columns = [...chainFields, 'digest'] as const satisfies (keyof EventTable)[];

/**
 * Rows inserted by one statement, because many are faster than one each. SQLite caches a statement for each number of
 * rows; PostgreSQL has a network round trip for each statement, and accepts 65,535 values.
 */
const rowsAtOnce = { sqlite: 32, postgres: 5_000 };
/** The rows of the largest statement whose text is kept. */
const mostKept = 100;

/**
 * The row of an event that follows one with the digest `previous`, which is null in a log that is not chained yet.
 * Throws when an event is not JSON, before the transaction shared with other events begins.
 */
export function writtenEvent(
  session: string,
  { event, agent }: StoredEvent,
  previous: string | null,
): WrittenEvent {
  const args = JSON.stringify(event.args);
  const message = plain(event.message);
  const fields = [
    session,
    event.seq,
    event.time,
    event.source,
    plain(event.action),
    args,
    message,
    event.id === undefined ? null : plain(event.id),
    agent?.epoch ?? null,
    agent?.n ?? null,
  ];
  const digest = previous === null ? null : chainDigest(previous, contentDigest(fields));
  const blobs = isFromUser(event) ? blobsIn(event.args.images) : [];
  const bytes = args.length + message.length;
  return { values: [...fields, digest], digest, noted: notedAt(event), bytes, blobs };
}

export async function insertRows(
  connection: DatabaseConnection,
  kind: Database['kind'],
  events: readonly WrittenEvent[],
): Promise<void> {
  for (let at = 0; at < events.length; at += rowsAtOnce[kind]) {
    const rows = events.slice(at, at + rowsAtOnce[kind]);
    const values = rows.flatMap((row) => row.values);
    await connection.executeQuery(CompiledQuery.raw(insertionOf(kind, rows.length), values));
  }
}

/** The statements that insert many rows, by the number of rows: making them anew is 5 % of an append. */
const insertions = { sqlite: new Map<number, string>(), postgres: new Map<number, string>() };

function insertionOf(kind: Database['kind'], rows: number): string {
  const known = insertions[kind].get(rows);
  if (known !== undefined) return known;
  const width = columns.length;
  const value = (at: number): string => (kind === 'sqlite' ? '?' : `$${at + 1}`);
  const row = (at: number): string =>
    `(${Array.from({ length: width }, (_, column) => value(at * width + column)).join()})`;
  const all = Array.from({ length: rows }, (_, at) => row(at)).join();
  const insertion = `insert into event (${columns.join()}) values ${all}`;
  if (rows <= mostKept) insertions[kind].set(rows, insertion);
  return insertion;
}

/** PostgreSQL stores neither NUL nor half a surrogate pair in text; JSON escapes both in `args`. */
const plain = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

function notedAt(event: Event): WrittenEvent['noted'] {
  if (isEvent(event, 'publish')) return 'publish';
  return isEvent(event, 'state') && isEnded(event.args.state) ? 'end' : undefined;
}

const isFromUser = (event: Event): event is Event & EventOf<'start' | 'message'> =>
  event.source === 'user' && (isEvent(event, 'start') || isEvent(event, 'message'));
