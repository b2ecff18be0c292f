import { once } from 'node:events';
import type { Event } from '@belay/protocol';
import type { Response } from 'express';
import { ignoreError } from '@belay/protocol';

/**
 * Writes events as server-sent events until the client disconnects or the pages end. A slow client uses no memory: the
 * next page is read once the connection has accepted the previous one.
 */
export async function sendEvents(
  response: Response,
  pages: AsyncGenerator<Event[], void>,
  signal: AbortSignal,
): Promise<void> {
  response.type('text/event-stream').set('x-accel-buffering', 'no');
  response.flushHeaders();
  // Part of the first event: some clients take a block of its own for an event without data.
  let retry = `retry: ${retryMs}\n`;
  for await (const events of pages) {
    const text = events.length > 0 ? retry + events.map(messageOf).join('') : stillHere;
    if (events.length > 0) retry = '';
    if (response.write(text) || signal.aborted) continue;
    await once(response, 'drain', { signal }).catch(ignoreError('the client is gone'));
  }
  response.end();
}

/** How long a client waits before it connects again. */
const retryMs = 1_000;

/** A comment within the next block: a blank line of its own would end a block, which some clients take for an event. */
const stillHere = ': still here\n';

/** JSON contains no line breaks here, so an event is one line of data. */
const messageOf = (event: Event): string => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
