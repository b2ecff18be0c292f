import type { Migration } from 'kysely/migration';

/** Counts the servers that have written a session’s log. */
export const sessionTerms: Migration = {
  async up(db) {
    await db.schema
      .alterTable('session')
      .addColumn('term', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
