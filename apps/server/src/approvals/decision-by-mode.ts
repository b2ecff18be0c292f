import {
  calledOperation,
  excerpt,
  needsDecision,
  type ApprovalMode,
  type ApprovalRequest,
} from '@belay/protocol';
import type { Decision } from './verdict-event.js';

/** Whether a request waits for the approval of a plan, which nothing but another mode gives. */
export const needsPlan = ({ risk }: ApprovalRequest, mode: ApprovalMode): boolean =>
  mode === 'plan' && risk !== 'read';

/**
 * The decision of a mode on a request, or how the mode has the user decide. Reading and writing in the sandbox is allowed
 * except in the modes `plan` and `safe`. The modes `rules` and `auto` ask nobody; in all others but `plan`, a host outside
 * the policy needs the user.
 */
export function decisionByMode(
  request: ApprovalRequest,
  mode: ApprovalMode,
): Decision | 'ask' | 'delay' {
  const refused = (reason: string): Decision => ({
    verdict: { verdict: 'rejected', reason, by: 'server' },
    by: { kind: 'mode', mode },
  });
  const approved = allowedBy(mode);
  const { operation: name, risk, subject } = request;
  if (mode === 'plan') return needsPlan(request, mode) ? refused(planFirst) : approved;
  const asksNobody = mode === 'rules' || mode === 'auto';
  if (name === 'egress') return asksNobody ? refused(noRule(mode, subject)) : 'ask';
  const operation = calledOperation(name);
  if (mode === 'safe') return operation && !needsDecision(operation, mode) ? approved : 'ask';
  if (risk === 'network' && staysInside(subject)) return approved;
  if (risk === 'read' || risk === 'write' || mode === 'auto') return approved;
  return mode === 'rules' ? refused(noRule(mode, `${name} ${subject}`)) : mode;
}

export const allowedBy = (mode: ApprovalMode): Decision => ({
  verdict: { verdict: 'approved' },
  by: { kind: 'mode', mode },
});

const planFirst =
  'The user wants a plan first: until they approve it, only reads run. Write the plan with plan.update, then ask for its approval.';

const noRule = (mode: ApprovalMode, what: string): string =>
  `The mode ${mode} asks nobody, and no rule allows ${excerpt(what.trim(), 300)}.`;

/** `localhost` is the sandbox itself, so such a request does not leave it. */
const staysInside = (subject: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]):\d+$/.test(subject);
