import type { Duplex } from 'node:stream';

/** Bytes both ways with back pressure; one direction may end before the other, a break ends both. */
export function joinStreams(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.once('close', () => {
      if (!from.readableEnded || !from.writableFinished) to.destroy();
    });
  }
}
