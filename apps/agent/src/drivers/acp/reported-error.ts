import { AppError, errorFrom, excerpt, type AgentProgram } from '@belay/protocol';
import { loginText, withoutToken } from './failure-text.js';
import { answeredError } from './program-answers.js';

/** ACP’s error for a program that wants a login first. */
const authRequired = -32_000;

/** An error that a program has answered, in a sentence; any other one as it is. */
export function reportedError(thrown: unknown, program: AgentProgram): AppError {
  const { data } = answeredError.safeParse(thrown);
  if (!data) return errorFrom(thrown);
  const { title } = program;
  if (data.code === authRequired)
    return new AppError('model_failed', loginText(title), { acp: data.code });
  const message = `${title} failed: ${withoutToken(excerpt(data.data ?? data.message), program)}`;
  return new AppError('model_failed', message, { acp: data.code });
}

export const wantsLogin = (thrown: unknown): boolean =>
  errorFrom(thrown).details?.['acp'] === authRequired;
