import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The event was called `arrival`. */
export const backgroundResults: Migration = {
  async up(db) {
    await sql`update event set action = 'background-result' where action = 'arrival'`.execute(db);
  },
};
