import { newEvent, type ApprovalVerdict, type NewEvent } from '@belay/protocol';

/** The answer to the question about a call, for the log. */
export function verdictEvent(
  source: 'user' | 'server',
  id: string,
  { verdict, reason, edited }: ApprovalVerdict,
  rule: string | null = null,
): NewEvent {
  const by = rule ? ' by a rule' : '';
  if (verdict === 'approved') {
    const message = edited ? 'Approved with changes.' : `Approved${by}.`;
    return newEvent(source, 'approve', { args: { rule, edited }, message, id });
  }
  const args = { reason: reason ?? '', rule };
  const message = reason ? `Rejected${by}: ${reason}` : `Rejected${by}.`;
  return newEvent(source, 'reject', { args, message, id });
}
