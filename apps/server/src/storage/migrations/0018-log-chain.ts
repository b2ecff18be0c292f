import type { Migration } from 'kysely/migration';

/** The hash chain of each log, with its heads at the times that matter, and the signed statements about changes. */
export const logChain = (kind: 'sqlite' | 'postgres'): Migration => ({
  async up(db) {
    await db.schema.alterTable('event').addColumn('digest', 'text').execute();
    await db.schema.alterTable('session').addColumn('head', 'text').execute();
    await db.schema.alterTable('session').addColumn('chained_from', 'integer').execute();
    await db.schema
      .createTable('log_head')
      .addColumn('id', kind === 'sqlite' ? 'integer' : 'bigserial', (column) =>
        kind === 'sqlite' ? column.primaryKey().autoIncrement() : column.primaryKey(),
      )
      .addColumn('session', 'text', (column) => column.notNull())
      .addColumn('seq', 'integer', (column) => column.notNull())
      .addColumn('head', 'text', (column) => column.notNull())
      .addColumn('time', 'text', (column) => column.notNull())
      .addColumn('why', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('evidence')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('session', 'text', (column) => column.notNull())
      .addColumn('commit_id', 'text', (column) => column.notNull())
      .addColumn('envelope', 'text', (column) => column.notNull())
      .addColumn('test_result', 'text')
      .addColumn('created', 'text', (column) => column.notNull())
      .execute();
  },
});
