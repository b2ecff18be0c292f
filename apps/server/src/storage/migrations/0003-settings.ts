import type { Migration } from 'kysely/migration';

export const serverSettings: Migration = {
  async up(db) {
    await db.schema
      .createTable('setting')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
  },
};
