import { approvalModes, isEvent, visibleText, type Decider, type Event } from '@belay/protocol';

/** Who decided on a call, and how. */
export function decisionOf(verdict: Event) {
  const approval = isEvent(verdict, 'approve') ? verdict.args : undefined;
  const rejection = isEvent(verdict, 'reject') ? verdict.args : undefined;
  const by = approval?.by ?? rejection?.by;
  return {
    allowed: approval !== undefined,
    decider: by ? nameOf(by) : verdict.source === 'user' ? 'The user' : 'The server',
    reason: rejection?.reason ?? '',
    /** The fields that the user changed before allowing the call. */
    edited: approval?.edited,
  };
}

function nameOf(by: Decider): string {
  if (by.kind === 'caller') return visibleText(by.label);
  if (by.kind === 'mode') return `The mode “${approvalModes[by.mode].short}”`;
  return by.kind === 'rule' ? 'A rule' : 'The server';
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
