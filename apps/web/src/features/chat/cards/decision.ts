import { isEvent, visibleText, type Event } from '@belay/protocol';

/** Who decided on a call, and how. */
export function decisionOf(verdict: Event) {
  const approval = isEvent(verdict, 'approve') ? verdict.args : undefined;
  const rejection = isEvent(verdict, 'reject') ? verdict.args : undefined;
  const rule = approval?.rule ?? rejection?.rule ?? null;
  return {
    allowed: approval !== undefined,
    decider: rule ? 'A rule' : verdict.source === 'user' ? 'You' : 'The policy',
    reason: rejection?.reason ?? '',
    /** The fields that the user changed before allowing the call. */
    edited: approval?.edited,
  };
}

/** A decision as a sentence. */
export function decisionText(verdict: Event): string {
  const { allowed, decider, reason, edited } = decisionOf(verdict);
  const did = allowed ? (edited ? 'changed and allowed' : 'allowed') : 'denied';
  return `${decider} ${did} this${reason ? `: ${visibleText(reason)}` : ''}`;
}

/** A call as it ran: with the changes that the user made before allowing it. */
export function callAsRun(call: Event, verdict: Event | undefined): Event {
  const edited = verdict && decisionOf(verdict).edited;
  return edited ? { ...call, args: { ...call.args, ...edited } } : call;
}
