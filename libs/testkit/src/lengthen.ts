import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Adds events like an agent’s to a session’s log in the database of a stopped server: replies,
 * calls and their results in turn.
 */
export function lengthen(data: string, session: string, count: number): void {
  const database = new DatabaseSync(join(data, 'belay.db'));
  try {
    database.exec('begin');
    append(database, session, count);
    database.exec('commit');
  } finally {
    database.close();
  }
}

function append(database: DatabaseSync, session: string, count: number): void {
  const row = database.prepare('select last_seq, summary from session where id = ?').get(session);
  const last = Number(row?.['last_seq']);
  const insert = database.prepare(
    'insert into event (session, seq, time, source, action, args, message, call) values (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const now = Date.now();
  for (let n = 1; n <= count; n += 1) {
    const { action, args, message, call } = eventOf(n);
    const time = new Date(now + n).toISOString();
    insert.run(session, last + n, time, 'agent', action, JSON.stringify(args), message, call);
  }
  const summary = JSON.stringify({
    ...(JSON.parse(String(row?.['summary'])) as object),
    lastSeq: last + count,
  });
  database
    .prepare('update session set last_seq = ?, indexed_seq = ?, summary = ? where id = ?')
    .run(last + count, last + count, summary, session);
}

/** In turn: a reply, its call, and the result of the call. */
function eventOf(n: number) {
  const call = `long-${n - (n % 3)}`;
  const input = { path: `src/file-${n % 97}.ts` };
  if (n % 3 === 0) {
    const calls = [{ id: call, operation: 'files.read', input }];
    return {
      action: 'say',
      args: { text: `Word ${n - 1}.`, calls },
      message: `Word ${n}`,
      call: null,
    };
  }
  if (n % 3 === 1) return { action: 'files.read', args: input, message: 'Reads a file', call };
  const output = { path: input.path, content: `line of ${n}\n`.repeat(20), lines: 20 };
  const args = { operation: 'files.read', ok: true, output, seconds: 0.01, images: [] };
  return { action: 'result', args, message: 'Read', call };
}
