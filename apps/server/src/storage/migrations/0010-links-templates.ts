import type { Migration } from 'kysely/migration';

export const linksTemplates: Migration = {
  async up(db) {
    for (const name of ['link_session', 'link_maker']) {
      await db.schema.alterTable('access_token').addColumn(name, 'text').execute();
    }
    await db.schema
      .createTable('task_template')
      .addColumn('caller', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('task_template_key', ['caller', 'name'])
      .execute();
  },
};
