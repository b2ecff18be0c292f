import { closeSync, openSync } from 'node:fs';
import SqliteDatabase, { type Statement } from 'better-sqlite3';
import { SqliteDialect } from 'kysely';

/**
 * WAL with synchronous NORMAL: a killed process loses no committed data; only a power failure may lose the last
 * commits, and it never damages the file.
 */
export function sqlite(file: string): SqliteDialect {
  // SQLite would create a file that others can read; its auxiliary files get the permissions of this one.
  closeSync(openSync(file, 'a', 0o600));
  const database = new SqliteDatabase(file, { timeout: 5_000 });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.pragma('foreign_keys = ON');
  database.pragma('wal_autocheckpoint = 4000');
  return new SqliteDialect({
    database: { prepare: remembering(database), close: () => void database.close() },
  });
}

/** The server uses few different statements, so each is compiled once. */
function remembering(database: SqliteDatabase.Database): (sql: string) => Statement {
  const limit = 200;
  const statements = new Map<string, Statement>();
  return (sql) => {
    // A full disk rolls the transaction back itself; a second rollback must not replace its error.
    if (sql === 'rollback' && !database.inTransaction) return database.prepare('select 0');
    const known = statements.get(sql);
    if (known && !known.busy) return known;
    const statement = database.prepare(sql);
    if (known) return statement;
    if (statements.size >= limit) statements.clear();
    statements.set(sql, statement);
    return statement;
  };
}
