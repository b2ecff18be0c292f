import { AppError, isEvent, type Event } from '@belay/protocol';
import type { LoggedCall } from './logged-calls.js';

/**
 * Refuses a call that an earlier server may have run. A call still waiting for its approval, or approved since, has not
 * run.
 */
export function refuseRepetition(
  { events: [call, ...later] }: Pick<LoggedCall, 'events'>,
  isEarlier: (seq: number) => boolean,
): void {
  const waits = later.some((event) => isEvent(event, 'approval'));
  const approved = later.findLast((event) => isEvent(event, 'approve'));
  const since: Event | undefined = approved ?? (waits ? undefined : call);
  if (!since || !isEarlier(since.seq)) return;
  throw new AppError(
    'cancelled',
    'The server was restarted during this call, so it may have taken effect. Check before you repeat it.',
  );
}
