import type { Response } from 'express';

/** Aborted when the client closes the connection before it gets its response. */
export function abortedOnClose(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => response.writableFinished || gone.abort());
  return gone.signal;
}
