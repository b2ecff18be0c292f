import { ignoreError } from '@belay/protocol';
import { PostgresDialect } from 'kysely';
import { Pool, types } from 'pg';

const int8 = 20;

export function postgres(url: string): PostgresDialect {
  types.setTypeParser(int8, Number);
  const pool = new Pool({ connectionString: url, max: 10 });
  // Otherwise the loss of a connection would end the server.
  const ignore = ignoreError('the pool replaces an idle connection; one in use fails its queries');
  pool.on('error', ignore);
  pool.on('connect', (connection) => void connection.on('error', ignore));
  return new PostgresDialect({ pool });
}
