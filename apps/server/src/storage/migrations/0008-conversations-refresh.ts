import type { Migration } from 'kysely/migration';

export const conversationsRefresh: Migration = {
  async up(db) {
    await db.schema
      .createTable('gpt_conversation')
      .addColumn('caller', 'text', (column) => column.notNull())
      .addColumn('conversation', 'text', (column) => column.notNull())
      .addColumn('session', 'text', (column) => column.notNull())
      .addColumn('bound', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('gpt_conversation_key', ['caller', 'conversation'])
      .execute();
    for (const name of ['client', 'refresh_family', 'refresh_hash', 'refresh_expires']) {
      await db.schema.alterTable('access_token').addColumn(name, 'text').execute();
    }
  },
};
