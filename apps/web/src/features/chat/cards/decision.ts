import { approvalModes, isEvent, visibleText, type Decider, type Event } from '@belay/protocol';

/** Who decided on a call, and how. */
export function decisionOf(verdict: Event) {
  const approval = isEvent(verdict, 'approve') ? verdict.args : undefined;
  const rejection = isEvent(verdict, 'reject') ? verdict.args : undefined;
  const by = approval?.by ?? rejection?.by;
  const decider = by ? nameOf(by) : verdict.source === 'user' ? 'The user' : 'The server';
  const allowed = approval !== undefined;
  /** The fields that the user changed before allowing the call. */
  const edited = approval?.edited;
  const did = allowed ? (edited ? 'changed and allowed' : 'allowed') : 'denied';
  return {
    allowed,
    decider,
    edited,
    reason: rejection?.reason ?? '',
    /** A mode’s reason names the mode. */
    isByMode: by?.kind === 'mode',
    /** Without the reason. */
    sentence: `${decider} ${did} this`,
  };
}

function nameOf(by: Decider): string {
  if (by.kind === 'caller') return visibleText(by.label);
  if (by.kind === 'mode') return `The mode “${approvalModes[by.mode].short}”`;
  return by.kind === 'rule' ? 'A rule' : 'The server';
}

/** A decision with its reason. */
export function decisionText(verdict: Event): string {
  const { sentence, reason, isByMode } = decisionOf(verdict);
  if (!reason) return sentence;
  return `${isByMode ? 'Denied' : sentence}: ${visibleText(reason)}`;
}

/** A call as it ran: with the changes that the user made before allowing it. */
export function callAsRun(call: Event, verdict: Event | undefined): Event {
  const edited = verdict && decisionOf(verdict).edited;
  return edited ? { ...call, args: { ...call.args, ...edited } } : call;
}
