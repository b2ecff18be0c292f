import type { Migration } from 'kysely/migration';

/** JSON values that were files of the data folder. */
export const documents: Migration = {
  async up(db) {
    await db.schema
      .createTable('document')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
  },
};
