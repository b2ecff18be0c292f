import {
  calledOperation,
  needsDecision,
  type ApprovalMode,
  type ApprovalRequest,
} from '@belay/protocol';

/**
 * What a mode makes of a request. Reading and writing in the sandbox is allowed except in the modes `plan` and `safe`; a
 * host outside the policy always needs the user.
 */
export function decisionByMode(
  { operation: name, risk, subject }: ApprovalRequest,
  mode: ApprovalMode,
): 'run' | 'refuse' | 'ask' | 'delay' {
  if (mode === 'plan') return risk === 'read' ? 'run' : 'refuse';
  if (name === 'egress') return mode === 'auto' ? 'refuse' : 'ask';
  const operation = calledOperation(name);
  if (mode === 'safe') return operation && !needsDecision(operation, mode) ? 'run' : 'ask';
  if (risk === 'network' && staysInside(subject)) return 'run';
  if (risk === 'read' || risk === 'write' || mode === 'auto') return 'run';
  return mode;
}

/** Why a mode refuses a request, for the model. */
export const refusalOf = ({ subject }: ApprovalRequest, mode: ApprovalMode): string =>
  mode === 'plan'
    ? 'The user wants a plan first: until they approve it, only reads run. Write the plan with plan.update, then ask for its approval.'
    : `The mode ${mode} asks nobody, and no rule allows ${subject}.`;

/** `localhost` is the sandbox itself, so such a request does not leave it. */
const staysInside = (subject: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]):\d+$/.test(subject);
