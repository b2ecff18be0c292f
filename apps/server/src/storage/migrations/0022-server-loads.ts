import type { Migration } from 'kysely/migration';

/** How many sandboxes of sessions each server has, and where. */
export const serverLoads: Migration = {
  async up(db) {
    await db.schema.alterTable('server').addColumn('instance', 'text').execute();
    for (const column of ['sandboxes', 'capacity'])
      await db.schema
        .alterTable('server')
        .addColumn(column, 'integer', (of) => of.notNull().defaultTo(0))
        .execute();
  },
};
