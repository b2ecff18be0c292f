import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The column that names a row, and those whose change is told. */
const followed = {
  document: { key: 'name', columns: ['version'] },
  access_token: {
    key: 'id',
    // All but the time of the last use.
    columns: [
      'label',
      'hash',
      'scope',
      'sessions',
      'expires',
      'sandbox',
      'client',
      'refresh_family',
      'refresh_hash',
      'refresh_expires',
      'link_session',
      'link_maker',
    ],
  },
  account: { key: 'id', columns: ['name', 'password', 'subject', 'scope'] },
  session_owner: { key: 'session', columns: ['caller'] },
};

/**
 * Tells every server on a PostgreSQL database which rows of these tables have changed, in the transaction that changes
 * them. All of them change seldom: such transactions are committed one after another.
 */
export const coldChanges = (kind: 'sqlite' | 'postgres'): Migration => ({
  async up(db) {
    if (kind === 'sqlite') return;
    await sql`create function belay_changed() returns trigger language plpgsql as $$
      begin
        perform pg_notify('belay', tg_table_name || ':' || (
          case when tg_op = 'DELETE' then to_jsonb(old) else to_jsonb(new) end ->> tg_argv[0]));
        return null;
      end $$`.execute(db);
    for (const [table, { key, columns }] of Object.entries(followed)) {
      await sql`create trigger belay_changed
        after insert or delete or update of ${sql.join(columns.map((column) => sql.ref(column)))}
        on ${sql.table(table)} for each row execute function belay_changed(${sql.lit(key)})`.execute(
        db,
      );
    }
  },
});
