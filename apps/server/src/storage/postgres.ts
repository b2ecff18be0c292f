import { PostgresDialect } from 'kysely';
import { Pool, types } from 'pg';

const int8 = 20;

export function postgres(url: string): PostgresDialect {
  types.setTypeParser(int8, Number);
  const pool = new Pool({ connectionString: url, max: 10 });
  // The loss of an idle connection must not end the server: the next query opens a new one.
  pool.on('error', () => undefined);
  return new PostgresDialect({ pool });
}
