import { AppError, isEvent, type Event } from '@belay/protocol';
import type { ApprovedCall } from './approved-calls.js';

/**
 * Refuses a call that may have run before the server’s start, as it may have had its effect. One that waits for its
 * approval, or was approved since, has not.
 */
export function refuseRepetition(
  { events: [call, ...later] }: Pick<ApprovedCall, 'events'>,
  started: number,
): void {
  const waits = later.some((event) => isEvent(event, 'approval'));
  const approved = later.findLast((event) => isEvent(event, 'approve'));
  const since: Event | undefined = approved ?? (waits ? undefined : call);
  if (!since || new Date(since.time).getTime() >= started) return;
  throw new AppError(
    'cancelled',
    'The server was restarted during this call, so it may have taken effect. Check before you repeat it.',
  );
}
