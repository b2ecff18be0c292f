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

/** Whether a call failed: with an error, or as a command with an exit code other than 0. */
export function hasFailed(result: Result): boolean {
  if (!result.args.ok) return true;
  const exitCode = runResultOf(result.args)?.exitCode ?? 0;
  return exitCode !== 0;
}
