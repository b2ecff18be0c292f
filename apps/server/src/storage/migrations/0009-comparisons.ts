import type { Migration } from 'kysely/migration';

export const comparisons: Migration = {
  async up(db) {
    await db.schema
      .createTable('comparison')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('created', 'text', (column) => column.notNull())
      .addColumn('task', 'text', (column) => column.notNull())
      .addColumn('check_command', 'text')
      .addColumn('failed', 'text', (column) => column.notNull())
      .addColumn('kept', 'text')
      .execute();
    await db.schema.alterTable('session').addColumn('comparison', 'text').execute();
  },
};
