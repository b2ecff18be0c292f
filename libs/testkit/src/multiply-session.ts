import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Adds sessions to the database of a stopped server: copies of an ended one, with these titles,
 * which also replace `word` in their logs. Files and terminals are not copied.
 */
export function multiplySession(
  data: string,
  session: string,
  { word, titles }: { word: string; titles: readonly string[] },
): void {
  const database = new DatabaseSync(join(data, 'belay.db'));
  try {
    database.exec('begin');
    titles.forEach((title, index) => copy(database, session, { word, title, index }));
    database.exec('commit');
  } finally {
    database.close();
  }
}

function copy(
  database: DatabaseSync,
  session: string,
  { word, title, index }: { word: string; title: string; index: number },
): void {
  const summary = JSON.parse(
    String(database.prepare('select summary from session where id = ?').get(session)?.['summary']),
  ) as object;
  const id = `${session}-${index}`;
  database
    .prepare(
      `insert into session (id, created, epoch, last_seq, agent_n, indexed_seq, settings, summary)
       select ?, created, epoch, last_seq, agent_n, 0, settings, ? from session where id = ?`,
    )
    .run(id, JSON.stringify({ ...summary, id, title }), session);
  database
    .prepare(
      `insert into event (session, seq, time, source, action, args, message, call)
       select ?, seq, time, source, action, replace(args, ?, ?), replace(message, ?, ?), call
       from event where session = ?`,
    )
    .run(id, word, title, word, title, session);
}
