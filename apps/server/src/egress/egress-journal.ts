import { AppError, fact, type EventArgs } from '@belay/protocol';
import type { EventLog } from '../logs/event-log.js';

export interface Connection extends EventArgs<'egress'> {
  session: string;
}

interface Sum {
  connection: Connection;
  count: number;
  timer: NodeJS.Timeout;
}

/** Writes `egress` events: connections to one host within two seconds with the same verdict become one. */
export class EgressJournal {
  private readonly sums = new Map<string, Sum>();
  private closed = false;

  constructor(
    private readonly events: EventLog,
    private readonly milliseconds = 2_000,
  ) {}

  add(connection: Connection): void {
    if (this.closed) return;
    const { session, host, port, verdict, reason } = connection;
    const key = JSON.stringify([session, host, port, verdict, reason]);
    const sum = this.sums.get(key);
    if (sum) {
      sum.count += 1;
      sum.connection.sent += connection.sent;
      sum.connection.received += connection.received;
      return;
    }
    const timer = setTimeout(() => void this.write(key), this.milliseconds);
    timer.unref();
    this.sums.set(key, { connection: { ...connection }, count: 1, timer });
  }

  /** Writes what waits. */
  async flush(): Promise<void> {
    await Promise.all([...this.sums.keys()].map((key) => this.write(key)));
  }

  /** Writes what waits; what comes later has no log any more. */
  close(): Promise<void> {
    this.closed = true;
    return this.flush();
  }

  private async write(key: string): Promise<void> {
    const sum = this.sums.get(key);
    if (!sum) return;
    clearTimeout(sum.timer);
    this.sums.delete(key);
    const { session, ...args } = sum.connection;
    const message = sentence(args, sum.count);
    try {
      await this.events.append(session, [fact('server', 'egress', { args, message })]);
    } catch (error) {
      // The session may be gone before its last connection is, or the disk full: that ends no other session.
      if (!(error instanceof AppError)) throw error;
    }
  }
}

function sentence(args: EventArgs<'egress'>, count: number): string {
  const times = count > 1 ? ` (${count} connections)` : '';
  const host = `${args.host}:${args.port}`;
  if (args.verdict === 'allowed') {
    return `${host}${times}: ${size(args.sent)} sent, ${size(args.received)} received.`;
  }
  return `${host}${times} ${args.verdict}${args.reason ? `: ${args.reason}` : '.'}`;
}

function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
