import { AppError, isEnded, isEvent } from '@belay/protocol';
import { inTime, untilAborted } from '@belay/rpc';
import type { EventLog } from './event-log.js';

interface Working {
  signal: AbortSignal;
  /** How a pause affects work that is about to begin: it waits, or is refused. */
  inPause: 'wait' | 'refuse';
  /** The longest wait for the end of a pause, in milliseconds; then it throws `unavailable`. Unlimited if omitted. */
  pauseTimeoutMs?: number | undefined;
}

/**
 * Runs the server’s work for a session: not before it has started, not in a pause, and not after its end. Work in
 * progress continues during a pause; the session’s end aborts it. Throws `cancelled` with the state.
 */
export async function whileWorking<T>(
  log: EventLog,
  session: string,
  {
    signal,
    inPause,
    pauseTimeoutMs,
    work,
  }: Working & { work: (signal: AbortSignal) => Promise<T> },
): Promise<T> {
  const ending = new AbortController();
  let changed = Promise.withResolvers<void>();
  // Subscribed before the state is read, so that no change is missed.
  const unsubscribe = log.subscribe(session, (events) => {
    const state = events.findLast((event) => isEvent(event, 'state'));
    if (!state) return;
    if (isEvent(state, 'state') && isEnded(state.args.state)) ending.abort(over(state.args.state));
    changed.resolve();
    changed = Promise.withResolvers();
  });
  const either = AbortSignal.any([signal, ending.signal]);
  try {
    for (;;) {
      const next = changed.promise;
      const { state } = await log.summary(session);
      either.throwIfAborted();
      if (isEnded(state)) throw over(state);
      if (state !== 'paused') break;
      if (inPause === 'refuse') throw over(state);
      const wait = pauseTimeoutMs === undefined ? next : inTime(next, pauseTimeoutMs, tooLong);
      await untilAborted(either, wait);
    }
    return await work(either);
  } catch (error) {
    if (ending.signal.aborted && !(error instanceof AppError)) throw ending.signal.reason;
    throw error;
  } finally {
    unsubscribe();
  }
}

const over = (state: string): AppError =>
  new AppError('cancelled', `The session is ${state}: nothing more is done for its agent.`);

const tooLong = (): never => {
  throw new AppError('unavailable', 'The session is paused. Try again once it goes on.');
};
