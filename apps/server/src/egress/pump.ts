import type { Duplex } from 'node:stream';

/**
 * Moves bytes both ways with back pressure until both sides have ended; the end of one direction leaves the other
 * open. When one side breaks, the other is destroyed. `head` goes out first. Never rejects.
 */
export async function pump(sandbox: Duplex, outside: Duplex, head: Buffer): Promise<void> {
  const breakOff = (): void => {
    sandbox.destroy();
    outside.destroy();
  };
  for (const stream of [sandbox, outside]) stream.on('error', breakOff);
  const closed = streamsClosed(sandbox, outside);
  for (const [one, other] of [
    [sandbox, outside],
    [outside, sandbox],
  ] as const) {
    one.once('close', () => {
      // The source closed before its end, so no more bytes follow.
      if (!one.readableEnded || !one.writableFinished) other.destroy();
    });
  }
  if (head.length > 0) outside.write(head);
  sandbox.pipe(outside).pipe(sandbox);
  await closed;
}

/** Resolves when all streams are closed. */
export async function streamsClosed(...streams: Duplex[]): Promise<void> {
  await Promise.all(
    streams.map(
      (stream) =>
        new Promise<void>((resolve) => {
          if (stream.destroyed && stream.closed) resolve();
          else stream.once('close', () => resolve());
        }),
    ),
  );
}

const lingerMs = 1_000;

/** Destroys a stream whose peer has received everything, if it does not end its own side within a second. */
export function endSoon(stream: Duplex): void {
  stream.once('finish', () => {
    const timer = setTimeout(() => stream.destroy(), lingerMs).unref();
    stream.once('close', () => clearTimeout(timer));
  });
}
