import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * A call’s events are found without reading its whole session. In SQLite the texts of events are kept in the order
 * in which they are found, so that a search need not sort them; the next one fills them in again.
 */
export function eventIndexes(kind: 'sqlite' | 'postgres'): Migration {
  return {
    async up(db) {
      await sql`create index event_call on event (session, call) where call is not null`.execute(
        db,
      );
      await db.schema.alterTable('session').addColumn('number', 'integer').execute();
      await sql`update session set number =
        (select count(*) from session as other where other.id <= session.id)`.execute(db);
      await db.schema
        .createIndex('session_number')
        .unique()
        .on('session')
        .column('number')
        .execute();
      if (kind === 'postgres') return;
      // Without statistics SQLite would prefer to read the whole session.
      await sql`analyze event`.execute(db);
      await sql`delete from sqlite_stat1 where tbl = 'event'`.execute(db);
      await sql`insert into sqlite_stat1 values ('event', 'event_call', '1000000 10000 3')`.execute(
        db,
      );
      await sql`analyze sqlite_schema`.execute(db);
      await db.schema.dropTable('event_text').execute();
      await sql`create virtual table event_text using fts5(text, tokenize = 'unicode61')`.execute(
        db,
      );
      await db.updateTable('session').set({ indexed_seq: 0 }).execute();
    },
  };
}
