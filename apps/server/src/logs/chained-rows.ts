import { chainDigest, chainFields, contentDigest } from '@belay/proof';
import { sql, type Selectable } from 'kysely';
import type { DatabaseConnection, EventTable } from '../storage/database-schema.js';

/** Rows chained by one transaction, which other appends wait for. */
const rowsAtOnce = 1_000;

/** The size of one page of events, unless a single event is larger. */
const maxPageBytes = 8 * 2 ** 20;

/** A place in a log, with the digest of the event there. */
export interface ChainPlace {
  seq: number;
  head: string;
}

/** The last event of a page that fits into the server’s memory; null when there is none. */
export async function pageEnd(
  connection: DatabaseConnection,
  session: string,
  { after, limit }: { after: number; limit: number },
): Promise<number | null> {
  const rows = await connection
    .selectFrom('event')
    .select(['seq', sql<number>`octet_length(args)`.as('bytes')])
    .where('session', '=', session)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
  let bytes = 0;
  const end = rows.findIndex((row, index) => (bytes += row.bytes) > maxPageBytes && index > 0);
  return (end < 0 ? rows.at(-1) : rows[end - 1])?.seq ?? null;
}

/** A page of a log as it is stored; empty at its end. */
export async function storedRows(
  connection: DatabaseConnection,
  session: string,
  range: { after: number; limit: number },
): Promise<Selectable<EventTable>[]> {
  const end = await pageEnd(connection, session, range);
  if (end === null) return [];
  return connection
    .selectFrom('event')
    .select([...chainFields, 'digest'])
    .where('session', '=', session)
    .where('seq', '>', range.after)
    .where('seq', '<=', end)
    .orderBy('seq')
    .execute();
}

/** Chains the next events of a log of an earlier version, and returns the last of them; `from` itself at the end. */
export async function chainRows(
  connection: DatabaseConnection,
  session: string,
  from: ChainPlace,
): Promise<ChainPlace> {
  const rows = await storedRows(connection, session, { after: from.seq, limit: rowsAtOnce });
  let { head } = from;
  const chained = rows.map((row) => {
    head = chainDigest(head, contentDigest(chainFields.map((field) => row[field])));
    return sql`(cast(${row.seq} as integer), ${head})`;
  });
  if (chained.length === 0) return from;
  await sql`update event set digest = part.column2 from (values ${sql.join(chained)}) as part
    where event.session = ${session} and event.seq = part.column1`.execute(connection);
  return { seq: rows.at(-1)?.seq ?? from.seq, head };
}
