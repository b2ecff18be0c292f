import { AppError, newEvent, bytesText, pluralText, type EventArgs } from '@belay/protocol';
import type { EventLog } from '../logs/event-log.js';

export interface EgressConnection extends EventArgs<'egress'> {
  session: string;
}

interface Sum {
  connection: EgressConnection;
  count: number;
  timer: NodeJS.Timeout;
}

/** Writes `egress` events: connections to one host within two seconds with the same verdict become one. */
export class EgressJournal {
  readonly #sums = new Map<string, Sum>();
  #closed = false;

  constructor(
    private readonly events: EventLog,
    private readonly milliseconds = 2_000,
  ) {}

  add(connection: EgressConnection): void {
    if (this.#closed) return;
    const { session, host, port, verdict, reason } = connection;
    const key = JSON.stringify([session, host, port, verdict, reason]);
    const sum = this.#sums.get(key);
    if (sum) {
      sum.count += 1;
      sum.connection.sent += connection.sent;
      sum.connection.received += connection.received;
      return;
    }
    const timer = setTimeout(() => void this.#write(key), this.milliseconds);
    timer.unref();
    this.#sums.set(key, { connection: { ...connection }, count: 1, timer });
  }

  /** Writes pending events. */
  async flush(): Promise<void> {
    await Promise.all([...this.#sums.keys()].map((key) => this.#write(key)));
  }

  /** Writes pending events of a session; later ones are dropped, because its log is deleted. */
  close(): Promise<void> {
    this.#closed = true;
    return this.flush();
  }

  async #write(key: string): Promise<void> {
    const sum = this.#sums.get(key);
    if (!sum) return;
    clearTimeout(sum.timer);
    this.#sums.delete(key);
    const { session, ...args } = sum.connection;
    const message = connectionSentence(args, sum.count);
    try {
      await this.events.append(session, [newEvent('server', 'egress', { args, message })]);
    } catch (error) {
      // The session may be deleted before its last connection ends, or the disk full; other sessions are unaffected.
      if (!(error instanceof AppError)) throw error;
    }
  }
}

/** The outcome of connections, as a sentence for the user. */
export function connectionSentence(args: EventArgs<'egress'>, count: number): string {
  const times = count > 1 ? ` (${pluralText(count, 'connection')})` : '';
  const host = `${args.host}:${args.port}`;
  if (args.verdict === 'allowed') {
    return `${host}${times}: ${bytesText(args.sent)} sent, ${bytesText(args.received)} received.`;
  }
  return `${host}${times} ${args.verdict}${args.reason ? `: ${args.reason}` : '.'}`;
}
