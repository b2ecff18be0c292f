import { closeSync, openSync } from 'node:fs';
import SqliteDatabase, { type Statement } from 'better-sqlite3';
import { SqliteDialect } from 'kysely';

/**
 * WAL with synchronous NORMAL: a killed process loses nothing that was committed; only a power cut
 * may take the last commits, and it never damages the file.
 */
export function sqlite(file: string): SqliteDialect {
  // SQLite itself makes files that others may read; those beside it get the rights of this one.
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

/** The statements of the server are few and come back often: each is compiled once. */
function remembering(database: SqliteDatabase.Database): (sql: string) => Statement {
  const limit = 200;
  const statements = new Map<string, Statement>();
  return (sql) => {
    // A full disk rolls the transaction back itself; its error must not be replaced by that of a second rollback.
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
