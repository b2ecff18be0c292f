import { sql } from 'kysely';
import { notStored, type Database } from './database.js';
import type { DatabaseConnection, DatabaseSchema } from './database-schema.js';

/**
 * Runs work in a transaction that no other one on this table overlaps, of this server or another. For changes that
 * depend on other rows than those that they write, of tables that change seldom.
 */
export function exclusively<T>(
  database: Database,
  table: keyof DatabaseSchema,
  work: (connection: DatabaseConnection) => Promise<T>,
): Promise<T> {
  return database.kysely
    .transaction()
    .execute(async (connection) => {
      // In SQLite, one transaction runs at a time.
      if (database.kind === 'postgres')
        await sql`lock table ${sql.table(table)} in share row exclusive mode`.execute(connection);
      return work(connection);
    })
    .catch(notStored);
}
