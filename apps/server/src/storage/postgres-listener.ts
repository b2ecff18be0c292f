import { ignoreError } from '@belay/protocol';
import { postgresClient } from './postgres.js';

export interface ListenerCalls {
  received(payload: string): void;
  /** Called once, also after `close`. */
  lost(): void;
}

/** How often the connection is tried, and how long it may be silent then, in milliseconds. */
const tryMs = 1_000;
const silenceMs = 2_000;
const connectMs = 5_000;
/** How the connection is listed by the database. */
export const listenerName = 'belay listener';

/** A connection of its own that receives what transactions notify on the channel `belay`. */
export class PostgresListener {
  private constructor(private readonly client: ReturnType<typeof postgresClient>) {}

  /** Rejects with the error of the connection. */
  static async open(url: string, { received, lost }: ListenerCalls): Promise<PostgresListener> {
    const client = postgresClient({
      connectionString: url,
      connectionTimeoutMillis: connectMs,
      query_timeout: silenceMs,
      application_name: listenerName,
    });
    client.on('error', ignoreError('its end follows'));
    client.on('notification', ({ payload = '' }) => received(payload));
    await client.connect();
    const end = (): void => void client.end().catch(ignoreError('it is lost anyway'));
    try {
      await client.query('listen belay');
    } catch (error) {
      end();
      throw error;
    }
    // A connection that the network has dropped does not end by itself.
    let timer: NodeJS.Timeout;
    const tryLater = (): void => {
      timer = setTimeout(() => void client.query('select 1').then(tryLater, end), tryMs).unref();
    };
    client.on('end', () => {
      clearTimeout(timer);
      lost();
    });
    tryLater();
    return new PostgresListener(client);
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}
