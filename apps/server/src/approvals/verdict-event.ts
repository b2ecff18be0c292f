import {
  approvalModes,
  newEvent,
  type ApprovalVerdict,
  type Decider,
  type NewEvent,
} from '@belay/protocol';

/** A verdict on a call, and who gave it. */
export interface Decision {
  verdict: ApprovalVerdict;
  by: Decider;
}

/** The decision on a call, for the log. */
export function verdictEvent(
  id: string,
  { verdict: { verdict, reason, edited }, by }: Decision,
): NewEvent {
  const source = by.kind === 'caller' ? 'user' : 'server';
  const who = nameOf(by);
  if (verdict === 'approved') {
    const message = `Approved${who}${edited ? ', with changes' : ''}.`;
    return newEvent(source, 'approve', { args: { by, edited }, message, id });
  }
  const message = reason ? `Rejected${who}: ${reason}` : `Rejected${who}.`;
  return newEvent(source, 'reject', { args: { reason: reason ?? '', by }, message, id });
}

function nameOf(by: Decider): string {
  switch (by.kind) {
    case 'caller':
      return ` by ${by.label}`;
    case 'rule':
      return ' by a rule';
    case 'mode':
      return ` by the mode “${approvalModes[by.mode].short}”`;
    case 'server':
      return '';
  }
}
