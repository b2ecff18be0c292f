import type { Socket } from 'node:net';

/** A probe, which is about the server that it reaches. */
export type Probe = 'live' | 'ready';

const requests: readonly [string, Probe][] = [
  ['GET /health/live HTTP/1.', 'live'],
  ['GET /health/ready HTTP/1.', 'ready'],
];

/**
 * What the first request of a paused connection asks about this server; undefined for any other connection, of which
 * nothing is taken. That needs its first bytes: resolves without them after `waitMs`, or when it has ended.
 */
export async function askedProbe(socket: Socket, waitMs: number): Promise<Probe | undefined> {
  const { promise, resolve } = Promise.withResolvers<Probe | undefined>();
  let taken = Buffer.alloc(0);
  const look = (): void => {
    const bytes = socket.read() as Buffer | null;
    if (bytes) taken = Buffer.concat([taken, bytes]);
    const head = taken.toString('latin1', 0, 40);
    const found = requests.find(([request]) => head.startsWith(request));
    const isOpen = requests.some(([request]) => request.startsWith(head));
    if (found || !isOpen) resolve(found?.[1]);
  };
  const over = (): void => resolve(undefined);
  const late = setTimeout(over, waitMs);
  socket.on('readable', look).once('end', over).once('close', over);
  try {
    const probe = await promise;
    return probe;
  } finally {
    clearTimeout(late);
    socket.off('readable', look).off('end', over).off('close', over);
    if (taken.length > 0 && !socket.readableEnded) socket.unshift(taken);
  }
}
