import type { Migration } from 'kysely/migration';

export const evaluations: Migration = {
  async up(db) {
    await db.schema
      .createTable('evaluation')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('epoch', 'integer', (column) => column.notNull())
      .addColumn('tasks', 'text', (column) => column.notNull())
      .addColumn('summary', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('evaluation_trial')
      .addColumn('evaluation', 'text', (column) => column.notNull())
      .addColumn('task', 'text', (column) => column.notNull())
      .addColumn('attempt', 'integer', (column) => column.notNull())
      .addColumn('seq', 'integer', (column) => column.notNull())
      .addColumn('outcome', 'text')
      .addColumn('tokens', 'integer', (column) => column.notNull())
      .addColumn('dollars', 'double precision', (column) => column.notNull())
      .addColumn('trial', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('evaluation_trial_key', ['evaluation', 'task', 'attempt'])
      .execute();
  },
};
