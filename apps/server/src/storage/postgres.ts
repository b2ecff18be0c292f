import { PostgresDialect } from 'kysely';
import { Pool, types } from 'pg';

const int8 = 20;

export function postgres(url: string): PostgresDialect {
  types.setTypeParser(int8, Number);
  return new PostgresDialect({ pool: new Pool({ connectionString: url, max: 10 }) });
}
