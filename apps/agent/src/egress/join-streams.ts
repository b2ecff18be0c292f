import type { Duplex } from 'node:stream';

/** Connects two streams both ways with back pressure. One direction may end before the other; an error ends both. */
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
