import type { Migration } from 'kysely/migration';

/** Which server works on a session, and where its log ended when that began. */
export const sessionOwners: Migration = {
  async up(db) {
    await db.schema.alterTable('session').addColumn('owner', 'text').execute();
    await db.schema
      .alterTable('session')
      .addColumn('term_seq', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    // The first server looks at all of them, as one of an earlier version did at each start.
    await db.updateTable('session').set({ owner: 'earlier' }).execute();
    await db.schema.createIndex('session_owner_id').on('session').column('owner').execute();
  },
};
