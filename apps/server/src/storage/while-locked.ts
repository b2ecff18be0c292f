import { sql } from 'kysely';
import type { Database } from './database.js';

/**
 * Does work that no other server does at the same time under this name; undefined if one is at it. The lock ends with its
 * connection, also when a server is killed. It takes one connection for as long: callers bound how many there are.
 */
export async function whileLocked<T>(
  database: Database,
  name: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  // The data folder of an SQLite is of one server.
  if (database.kind === 'sqlite') return work();
  return database.kysely.connection().execute(async (connection) => {
    const key = sql`hashtextextended(${name}, 0)`;
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_lock(${key}) as locked
    `.execute(connection);
    if (rows[0]?.locked !== true) return undefined;
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(${key})`.execute(connection);
    }
  });
}
