import type { Migration } from 'kysely/migration';

/** The servers of a shared database, and which of them serves. */
export const servers: Migration = {
  async up(db) {
    await db.schema
      .createTable('server')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('address', 'text')
      .addColumn('files', 'text', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('beat', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('lease')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('server', 'text')
      .addColumn('term', 'integer', (column) => column.notNull())
      .execute();
    await db.insertInto('lease').values({ name: 'sessions', server: null, term: 0 }).execute();
  },
};
