import { setTimeout as delay } from 'node:timers/promises';
import { AppError, ignoreError } from '@belay/protocol';
import { postgresClient } from './postgres.js';

/** How often a database that does not respond is tried, how long a try may take, and how often that is said, in ms. */
const tryMs = 1_000;
const connectMs = 5_000;
const sayMs = 60_000;

/**
 * Resolves when the database at this DATABASE_URL accepts a connection. Whoever starts both may start the server first,
 * and a database that restarts or was cut off comes back: `say` gets a sentence about the wait at once and every minute.
 * Throws `unavailable` when the database is there and refuses the connection.
 */
export async function untilConnected(url: string, say: (sentence: string) => void): Promise<void> {
  for (let said = -Infinity; ;) {
    try {
      return await connect(url);
    } catch (error) {
      if (!isAway(error))
        throw new AppError(
          'unavailable',
          `PostgreSQL at ${hostOf(url)} cannot be used (${reasonOf(error)}): check DATABASE_URL.`,
        );
      if (performance.now() - said > sayMs) {
        said = performance.now();
        say(
          `PostgreSQL at ${hostOf(url)} does not respond (${reasonOf(error)}): this server waits until it does. Start it, or correct DATABASE_URL.`,
        );
      }
    }
    await delay(tryMs);
  }
}

async function connect(url: string): Promise<void> {
  const client = postgresClient({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    query_timeout: connectMs,
  });
  client.on('error', ignoreError('what waits for the connection fails'));
  try {
    await client.connect();
    await client.query('select 1');
  } finally {
    void client.end().catch(ignoreError('a connection that the network has dropped ends later'));
  }
}

const networkErrors: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** PostgreSQL itself says by a code of five characters that it starts, ends, or has too many connections. */
const passing = /^(57P0[1-3]|53300)$/;
/** What `pg` says of a connection that took too long or was closed, which has no code. */
const noAnswer = /timeout|Connection terminated/i;

function isAway(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === undefined) return noAnswer.test(String(message));
  return typeof code === 'string' && (networkErrors.has(code) || passing.test(code));
}

/** The attempts at several addresses of one name fail together, without a sentence. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return String(message || code);
}

/** Never the password. */
function hostOf(url: string): string {
  const { host, searchParams } = new URL(url);
  return searchParams.get('host') ?? host;
}
