import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export function sessionsEventsRules(kind: 'sqlite' | 'postgres'): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('session')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('created', 'text', (column) => column.notNull())
        .addColumn('epoch', 'integer', (column) => column.notNull())
        .addColumn('last_seq', 'integer', (column) => column.notNull())
        .addColumn('agent_n', 'integer', (column) => column.notNull())
        .addColumn('indexed_seq', 'integer', (column) => column.notNull())
        .addColumn('settings', 'text', (column) => column.notNull())
        .addColumn('summary', 'text', (column) => column.notNull())
        .execute();
      const event = db.schema
        .createTable('event')
        .addColumn('session', 'text', (column) => column.notNull())
        .addColumn('seq', 'integer', (column) => column.notNull())
        .addColumn('time', 'text', (column) => column.notNull())
        .addColumn('source', 'text', (column) => column.notNull())
        .addColumn('action', 'text', (column) => column.notNull())
        .addColumn('args', 'text', (column) => column.notNull())
        .addColumn('message', 'text', (column) => column.notNull())
        .addColumn('call', 'text')
        .addColumn('epoch', 'integer')
        .addColumn('n', 'integer')
        .addPrimaryKeyConstraint('event_key', ['session', 'seq']);
      // One tree, in the order of the log, instead of a table and an index.
      await (kind === 'sqlite' ? event.modifyEnd(sql`without rowid`) : event).execute();
      await db.schema
        .createTable('rule')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('created', 'text', (column) => column.notNull())
        .addColumn('scope', 'text', (column) => column.notNull())
        .addColumn('session', 'text')
        .addColumn('workspace', 'text')
        .addColumn('operation', 'text', (column) => column.notNull())
        .addColumn('pattern', 'text', (column) => column.notNull())
        .addColumn('verdict', 'text', (column) => column.notNull())
        .addColumn('expires', 'text')
        .addColumn('uses', 'integer', (column) => column.notNull())
        .execute();
      if (kind === 'sqlite') {
        await sql`create virtual table event_text using fts5(
          session unindexed, seq unindexed, text, tokenize = 'unicode61')`.execute(db);
      } else {
        await db.schema
          .createTable('event_text')
          .addColumn('session', 'text', (column) => column.notNull())
          .addColumn('seq', 'integer', (column) => column.notNull())
          .addColumn('text', 'text', (column) => column.notNull())
          .addPrimaryKeyConstraint('event_text_key', ['session', 'seq'])
          .execute();
        await sql`create index event_text_words on event_text
          using gin (to_tsvector('simple', text))`.execute(db);
      }
    },
  };
}
