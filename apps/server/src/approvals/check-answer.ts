import {
  AppError,
  editedInput,
  excerpt,
  operationNamed,
  ruleMatches,
  type ApprovalAnswer,
  type ApprovalRequest,
} from '@belay/protocol';

/**
 * Throws `invalid_input` for a rule that would not decide the call, and for a change that the call does not take. A
 * question that is not open has no call; the answer to it is refused elsewhere.
 */
export function checkAnswer(
  asked: ApprovalRequest | undefined,
  { verdict, remember, edited }: ApprovalAnswer,
): void {
  if (!asked) return;
  if (remember && !ruleMatches({ ...remember, verdict }, asked))
    throw new AppError(
      'invalid_input',
      `The pattern ${remember.pattern} does not match ${excerpt(asked.subject, 300)}. Change the pattern, or allow the call once.`,
    );
  if (!edited) return;
  if (verdict !== 'approved' || remember)
    throw new AppError(
      'invalid_input',
      'Only a call that is allowed once can be changed. Leave out `edited`.',
    );
  if (asked.fixed)
    throw new AppError(
      'invalid_input',
      'The agent’s own program runs this call, so it cannot be changed. Deny it, and say what to do instead.',
    );
  const operation = operationNamed(asked.operation);
  if (!operation)
    throw new AppError(
      'invalid_input',
      `${asked.operation} cannot be changed. Allow it or deny it.`,
    );
  editedInput(operation, asked.input, edited);
}
