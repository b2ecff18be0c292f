import type { Migration } from 'kysely/migration';

/** Output of terminals, where files are stored in a bucket. */
export const terminalPieces = (kind: 'sqlite' | 'postgres'): Migration => ({
  async up(db) {
    await db.schema
      .createTable('terminal_piece')
      .addColumn('session', 'text', (column) => column.notNull())
      .addColumn('terminal', 'text', (column) => column.notNull())
      .addColumn('start', 'bigint', (column) => column.notNull())
      .addColumn('length', 'bigint', (column) => column.notNull())
      .addColumn('kept', 'bigint', (column) => column.notNull())
      .addColumn('object', 'text')
      // The last one: SQLite reads the others without it.
      .addColumn('bytes', kind === 'sqlite' ? 'blob' : 'bytea')
      .addPrimaryKeyConstraint('terminal_piece_key', ['session', 'terminal', 'start'])
      .execute();
  },
});
