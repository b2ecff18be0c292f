import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import { AppError } from '@belay/protocol';

/** A slower sender counts as disconnected, because a starting session keeps a sandbox reserved for it. */
const usualPace = { bytes: 64 * 1024, ms: 60_000 };

/**
 * Destroys `target` with `timeout` when the request’s body arrives too slowly although it is being read. Returns a
 * function that stops the watch.
 */
export function refuseSlowSender(
  request: IncomingMessage,
  target: Writable,
  { bytes, ms } = usualPace,
): () => void {
  const { socket } = request;
  let before = socket.bytesRead;
  let wasFull = false;
  const full = (): void => void (wasFull = true);
  target.on('drain', full);
  const timer = setInterval(() => {
    const isSlow = !wasFull && !target.writableNeedDrain && socket.bytesRead - before < bytes;
    if (isSlow && !request.complete) target.destroy(tooSlow());
    before = socket.bytesRead;
    wasFull = false;
  }, ms);
  return () => {
    clearInterval(timer);
    target.off('drain', full);
  };
}

const tooSlow = (): AppError =>
  new AppError(
    'timeout',
    'The files arrived too slowly. Send them again over a better connection.',
  );
