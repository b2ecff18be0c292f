import { isEnded, isEvent, operationNamed, rewinds, type Event } from '@belay/protocol';

/**
 * Whether a queued message still waits for the agent. The server records deliveries; in logs of
 * Belay’s own agent from before it did so, they follow from the replies: a turn ends with a reply
 * without calls, an answer or a finish, and the next reply has read all messages before it.
 */
export function isQueued(events: readonly Event[], message: Event): boolean {
  if (!isEvent(message, 'message') || message.args.delivery !== 'queue') return false;
  const at = events.findLastIndex(({ seq }) => seq <= message.seq);
  if (events.some((event) => isEvent(event, 'turn')))
    return !events.slice(at + 1).some((event) => isTaken(message.seq, event));
  const before = events.slice(0, at).findLast((event) => turnOf(event) !== null);
  let ended = before === undefined || turnOf(before) === 'ended';
  for (const event of events.slice(at + 1)) {
    if (isTaken(message.seq, event) || (ended && isRead(message.seq, event))) return false;
    ended = (turnOf(event) ?? (ended ? 'ended' : 'begun')) === 'ended';
  }
  return true;
}

/** Whether an event ends a message’s wait: it was delivered, withdrawn or rewound. */
function isTaken(message: number, event: Event): boolean {
  if (isEvent(event, 'deliver')) return event.args.messages.includes(message);
  if (isEvent(event, 'withdraw')) return event.args.message === message;
  return rewinds(event, 'conversation') && event.args.seq < message;
}

const isRead = (message: number, event: Event): boolean =>
  isEvent(event, 'say') && (event.args.seen?.others ?? event.seq) >= message;

/** Whether the turn has begun or ended as of an event; null if the event does not affect it. */
function turnOf(event: Event): 'begun' | 'ended' | null {
  if (isEvent(event, 'say')) return event.args.calls.length > 0 ? 'begun' : 'ended';
  if (isEvent(event, 'result'))
    return operationNamed(event.args.operation)?.servedBy === 'loop' ? 'ended' : null;
  return isEvent(event, 'state') && isEnded(event.args.state) ? 'ended' : null;
}
