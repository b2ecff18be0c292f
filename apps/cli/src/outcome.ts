import type { SessionSummary } from '@belay/protocol';

/** Exit codes of `belay run`. */
export const exitCodes = {
  finished: 0,
  failed: 1,
  usage: 2,
  limited: 3,
  needsPerson: 4,
  interrupted: 130,
} as const;

/** The exit code of a session that has ended. */
export function exitCodeOf({ state }: Pick<SessionSummary, 'state'>): number {
  if (state === 'finished') return exitCodes.finished;
  if (state === 'limited') return exitCodes.limited;
  return state === 'stopped' ? exitCodes.interrupted : exitCodes.failed;
}
