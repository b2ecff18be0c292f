import type { Migration } from 'kysely/migration';

/** What is kept for a while under a secret: requests with an idempotency key, and codes that are valid once. */
export const expiringValues = (kind: 'sqlite' | 'postgres'): Migration => ({
  async up(db) {
    await db.schema
      .createTable('expiring_value')
      .addColumn('id', kind === 'sqlite' ? 'integer' : 'bigserial', (column) =>
        kind === 'sqlite' ? column.primaryKey().autoIncrement() : column.primaryKey(),
      )
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('expires', 'bigint', (column) => column.notNull())
      .addColumn('size', 'integer', (column) => column.notNull())
      // The last one: SQLite reads the others without it.
      .addColumn('value', 'text', (column) => column.notNull())
      .addUniqueConstraint('expiring_value_hash', ['kind', 'hash'])
      .execute();
    const index = (name: string, columns: string[]) =>
      db.schema.createIndex(name).on('expiring_value').columns(columns).execute();
    await index('expiring_value_owner', ['kind', 'owner', 'id', 'size']);
    await index('expiring_value_expires', ['expires']);
  },
});
