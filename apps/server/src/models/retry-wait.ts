import { setTimeout as delay } from 'node:timers/promises';
import { AppError, isEvent, type Event } from '@belay/protocol';
import type { EventLog } from '../logs/event-log.js';

/**
 * Waits before a retry, and returns early if the user writes, resumes the session or chooses another model. `begin`
 * runs once the session is followed, so that nothing that the user does after it is missed. Throws `cancelled` when the
 * session is paused, and the reason of `signal`.
 */
export async function waitForRetry(
  log: EventLog,
  session: string,
  { seconds, begin, signal }: { seconds: number; begin: () => Promise<void>; signal: AbortSignal },
): Promise<void> {
  const early = new AbortController();
  const unsubscribe = log.subscribe(session, (events) => {
    if (events.some(isPaused)) early.abort(paused());
    else if (events.some(endsWait)) early.abort();
  });
  try {
    // The pause may have come during the call that failed.
    if ((await log.summary(session)).state === 'paused') throw paused();
    await begin();
    await delay(seconds * 1000, undefined, {
      signal: AbortSignal.any([signal, early.signal]),
    }).catch(() => {
      signal.throwIfAborted();
      if (early.signal.reason instanceof AppError) throw early.signal.reason;
    });
  } finally {
    unsubscribe();
  }
}

const paused = (): AppError => new AppError('cancelled', 'The session is paused.');

const isPaused = (event: Event): boolean =>
  isEvent(event, 'state') && event.args.state === 'paused';

const endsWait = (event: Event): boolean =>
  isEvent(event, 'message') ||
  isEvent(event, 'resume') ||
  (isEvent(event, 'change') && event.args.model !== undefined);
