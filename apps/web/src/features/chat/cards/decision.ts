import { isEvent, type Event } from '@belay/protocol';

/** Who decided on a call, and how. */
export function decisionOf(verdict: Event) {
  const allowed = isEvent(verdict, 'approve');
  const rule = allowed || isEvent(verdict, 'reject') ? verdict.args.rule : null;
  const decider = rule ? 'A rule' : verdict.source === 'user' ? 'You' : 'The policy';
  return { allowed, decider, reason: isEvent(verdict, 'reject') ? verdict.args.reason : '' };
}
