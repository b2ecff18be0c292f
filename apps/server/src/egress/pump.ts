import type { Duplex } from 'node:stream';
import { Transform } from 'node:stream';

export interface Flow {
  sent: number;
  received: number;
}

/**
 * Moves bytes both ways with back pressure until both sides have ended; the end of one direction leaves the other
 * open. When one side breaks, the other is destroyed. Never rejects.
 */
export async function pump(sandbox: Duplex, outside: Duplex): Promise<Flow> {
  const flow = { sent: 0, received: 0 };
  const breakOff = (): void => {
    sandbox.destroy();
    outside.destroy();
  };
  const up = counted((bytes) => (flow.sent += bytes));
  const down = counted((bytes) => (flow.received += bytes));
  for (const stream of [sandbox, outside, up, down]) stream.on('error', breakOff);
  const closed = Promise.all([sandbox, outside].map(closing));
  for (const [one, other] of [
    [sandbox, outside],
    [outside, sandbox],
  ] as const) {
    one.once('close', () => {
      // Closed before it ended: the rest will never come.
      if (!one.readableEnded || !one.writableFinished) other.destroy();
    });
  }
  sandbox.pipe(up).pipe(outside);
  outside.pipe(down).pipe(sandbox);
  await closed;
  return flow;
}

const closing = (stream: Duplex): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed && stream.closed) resolve();
    else stream.once('close', () => resolve());
  });

const counted = (add: (bytes: number) => void): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      add(chunk.length);
      done(null, chunk);
    },
  });
