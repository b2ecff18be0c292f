import { sql } from 'kysely';
import type { Database } from '../storage/database.js';
import type { DatabaseConnection } from '../storage/database-schema.js';

type Kind = Database['kind'];

/** A text found in a log. */
export interface TextMatch {
  session: string;
  seq: number;
  excerpt: string;
}

/**
 * In SQLite, a text’s rowid combines the number of its session and its seq. The newest come first without sorting, and
 * those of one session are a range.
 */
const firstRow = sql.raw('(session.number << 24)');

export async function insertTexts(
  connection: DatabaseConnection,
  kind: Kind,
  { session, texts }: { session: string; texts: readonly { seq: number; text: string }[] },
): Promise<void> {
  if (texts.length === 0) return;
  if (kind === 'postgres') {
    const rows = texts.map((each) => ({ session, ...each }));
    await connection.insertInto('event_text').values(rows).execute();
    return;
  }
  const rows = JSON.stringify(texts.map(({ seq, text }) => [seq, text]));
  await sql`insert into event_text (rowid, text)
    select ${firstRow} + (row.value->>0), row.value->>1
    from json_each(${rows}) as row, session where session.id = ${session}`.execute(connection);
}

/**
 * Texts that contain all words; the last word may be a prefix. Newest sessions first, and within them newest events
 * first.
 */
export async function findTexts(
  connection: DatabaseConnection,
  kind: Kind,
  { words, ...of }: Range & { words: readonly string[] },
): Promise<TextMatch[]> {
  return kind === 'sqlite'
    ? findInSqlite(connection, `${words.map((word) => `"${word}"`).join(' ')}*`, of)
    : findInPostgres(connection, `${words.join(' & ')}:*`, of);
}

interface Range {
  limit: number;
  /** Only in these sessions; in all when omitted. */
  sessions?: readonly string[] | undefined;
}

async function findInSqlite(
  connection: DatabaseConnection,
  match: string,
  { limit, sessions }: Range,
): Promise<TextMatch[]> {
  const within = sessions
    ? sql`and event_text.rowid >> 24 in (select number from session
        where id in (select value from json_each(${JSON.stringify(sessions)})))`
    : sql``;
  const { rows } = await sql<TextMatch>`
    select (select id from session where session.number = event_text.rowid >> 24) as session,
      event_text.rowid & 0xffffff as seq, snippet(event_text, 0, '', '', '…', 24) as excerpt
    from event_text where event_text match ${match} ${within}
    order by event_text.rowid desc limit ${limit}`.execute(connection);
  return rows;
}

async function findInPostgres(
  connection: DatabaseConnection,
  match: string,
  { limit, sessions }: Range,
): Promise<TextMatch[]> {
  const within = sessions ? sql`and session = any(${sessions}::text[])` : sql``;
  const { rows } = await sql<TextMatch>`
    select session, seq, ts_headline('simple', text, to_tsquery('simple', ${match}),
      'StartSel="", StopSel="", MaxFragments=1, MaxWords=24, MinWords=8') as excerpt
    from event_text where to_tsvector('simple', text) @@ to_tsquery('simple', ${match}) ${within}
    order by session desc, seq desc limit ${limit}`.execute(connection);
  return rows;
}

/** Must run before the session’s own row is deleted. */
export async function removeTexts(
  connection: DatabaseConnection,
  kind: Kind,
  session: string,
): Promise<void> {
  if (kind === 'postgres') {
    await connection.deleteFrom('event_text').where('session', '=', session).execute();
    return;
  }
  const first = sql`(select ${firstRow} from session where id = ${session})`;
  await sql`delete from event_text
    where rowid between ${first} and ${first} + 0xffffff`.execute(connection);
}
