import { AppError, isEvent, type Event } from '@belay/protocol';
import type { ApprovedCall } from './approved-calls.js';

/**
 * Refuses a call that may have taken effect before the server’s start. A call still waiting for its approval, or
 * approved since, has not run.
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
