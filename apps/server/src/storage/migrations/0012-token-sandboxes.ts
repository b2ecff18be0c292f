import type { Migration } from 'kysely/migration';

export const tokenSandboxes: Migration = {
  async up(db) {
    await db.schema.alterTable('access_token').addColumn('sandbox', 'text').execute();
  },
};
