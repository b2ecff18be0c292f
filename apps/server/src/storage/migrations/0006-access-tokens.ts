import type { Migration } from 'kysely/migration';

export const accessTokens: Migration = {
  async up(db) {
    await db.schema
      .createTable('access_token')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('label', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('scope', 'text', (column) => column.notNull())
      .addColumn('sessions', 'text', (column) => column.notNull())
      .addColumn('created', 'text', (column) => column.notNull())
      .addColumn('expires', 'text')
      .addColumn('last_used', 'text')
      .execute();
    await db.schema
      .createTable('session_owner')
      .addColumn('session', 'text', (column) => column.primaryKey())
      .addColumn('caller', 'text', (column) => column.notNull())
      .execute();
  },
};
