import { ignoreError } from '@belay/protocol';
import { PostgresDialect, sql, type Kysely } from 'kysely';
import { Client, Pool, types, type ClientConfig } from 'pg';
import { serverId } from '../server-id.js';

const int8 = 20;
/** How long the pool tries to connect, in milliseconds: a network that drops packets never refuses a connection. */
const connectMs = 10_000;

/** Notices a dead machine. The pool’s own limit would also end the wait for a connection that is in use. */
class PooledClient extends Client {
  constructor(config?: ClientConfig) {
    super({ ...config, connectionTimeoutMillis: connectMs, keepAlive: true });
  }
}

/** A server that takes the place of another one ends its connections, which have this name. */
export const connectionName = (server: string): string => `belay ${server}`;

export function postgres(url: string): PostgresDialect {
  types.setTypeParser(int8, Number);
  const named = new URL(url);
  named.searchParams.set('application_name', connectionName(serverId));
  const pool = new Pool({ connectionString: named.href, max: 10, Client: PooledClient });
  // Otherwise the loss of a connection would end the server.
  const ignore = ignoreError('the pool replaces an idle connection; one in use fails its queries');
  pool.on('error', ignore);
  pool.on('connect', (connection) => void connection.on('error', ignore));
  return new PostgresDialect({ pool });
}

/** A server that was stopped in a transaction would hold its locks, and commit it when it goes on. */
export async function endConnections<T>(
  kysely: Kysely<T>,
  servers: readonly string[],
): Promise<void> {
  if (servers.length === 0) return;
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name in (${sql.join(servers.map(connectionName))}) and pid <> pg_backend_pid()
  `.execute(kysely);
}

/** A connection of its own, which is not open yet. */
export const postgresClient = (config: ClientConfig): Client => new Client(config);
