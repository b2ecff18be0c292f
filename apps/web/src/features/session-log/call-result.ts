import { errorShape, isStarted, runResultOf, type Event, type EventOf } from '@belay/protocol';

export type Result = Event & EventOf<'result'>;

export type BackgroundResult = Event & EventOf<'background-result'>;

/** The final result of a call; undefined while it runs, even in the background. */
export function outcomeOf(
  answer: Result | undefined,
  backgroundResult: BackgroundResult | undefined,
): Result | undefined {
  if (backgroundResult) return { ...backgroundResult, action: 'result' };
  return answer && isStarted(answer.args) ? undefined : answer;
}

/** Whether a call was cancelled, or refused because the user wrote. */
export const isCancelled = ({ args }: Result): boolean =>
  !args.ok && errorShape.safeParse(args.output).data?.code === 'cancelled';

/** Whether a call failed: with an error, or as a command that timed out or has an exit code other than 0. */
export function hasFailed({ args }: Result): boolean {
  if (!args.ok) return true;
  const run = runResultOf(args);
  return run?.status === 'timeout' || (run?.exitCode ?? 0) !== 0;
}
