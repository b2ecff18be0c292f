import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Rows of the audit log are added, and the oldest removed; none is changed. */
export function usersAudit(kind: 'sqlite' | 'postgres'): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('account')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('name', 'text', (column) => column.notNull().unique())
        .addColumn('password', 'text')
        .addColumn('subject', 'text', (column) => column.unique())
        .addColumn('scope', 'text', (column) => column.notNull())
        .addColumn('created', 'text', (column) => column.notNull())
        .addColumn('last_login', 'text')
        .execute();
      await db.schema
        .createTable('audit')
        .addColumn('id', kind === 'sqlite' ? 'integer' : 'bigserial', (column) =>
          kind === 'sqlite' ? column.primaryKey().autoIncrement() : column.primaryKey(),
        )
        .addColumn('time', 'text', (column) => column.notNull())
        .addColumn('caller', 'text')
        .addColumn('label', 'text')
        .addColumn('api', 'text', (column) => column.notNull())
        .addColumn('action', 'text', (column) => column.notNull())
        .addColumn('session', 'text')
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('address', 'text')
        .addColumn('outcome', 'text', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('audit_session').on('audit').columns(['session', 'id']).execute();
      if (kind === 'sqlite') {
        await sql`create trigger audit_unchanged before update on audit
          begin select raise(abort, 'the audit log is never changed'); end`.execute(db);
      } else {
        await sql`create rule audit_unchanged as on update to audit do instead nothing`.execute(db);
      }
    },
  };
}
