import type { Duplex } from 'node:stream';
import { ignoreError } from '@belay/protocol';
import type { ServerConnection } from '../server-connection.js';

export interface OutgoingConnections {
  /** Opens a connection out of the sandbox; rejects with `AppError` when it is refused or fails. */
  open(host: string, port: number): Promise<Duplex>;
  /** The server’s refusals since the last call, for the model; never rejects. */
  report(): Promise<string | undefined>;
}

/** Connections out of the sandbox. The server is asked about refusals only when there may be any. */
export function createOutgoing(
  connection: Pick<ServerConnection, 'open' | 'call'>,
): OutgoingConnections {
  let mayHaveNews = false;
  const note = () => {
    mayHaveNews = true;
  };
  return {
    async open(host, port) {
      try {
        const stream = await connection.open('egress', { host, port });
        // An open connection may be closed by a refusal, because of what it sent.
        stream.once('close', note);
        return stream;
      } finally {
        note();
      }
    },
    async report() {
      if (!mayHaveNews) return undefined;
      mayHaveNews = false;
      const report = await connection
        .call('egress.report', {})
        .catch(ignoreError('the result goes without it'));
      return report?.text ?? undefined;
    },
  };
}
