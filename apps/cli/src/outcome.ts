import type { SessionSummary } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import type { RunOutcome } from './follow-run.js';
import type { Output } from './output.js';

/** Exit codes of `belay run`. */
export const exitCodes = {
  finished: 0,
  failed: 1,
  usage: 2,
  limited: 3,
  needsPerson: 4,
  interrupted: 130,
} as const;

/** Says how a session that was followed stands now, and answers the exit code. */
export async function conclude(
  outcome: RunOutcome,
  about: { id: string; client: BelayClient; url: string; progress: Output },
): Promise<number> {
  const { id, client, url, progress } = about;
  if (outcome.needsPerson) {
    progress.line(
      `${outcome.needsPerson} It waits at ${url}/sessions/${id}, or for: belay attach ${id}`,
    );
    return exitCodes.needsPerson;
  }
  const summary = await client.sessions.get(id);
  progress.line(`${summary.state}: ${summary.reason ?? summary.title}`);
  return outcome.interrupted ? exitCodes.interrupted : exitCodeOf(summary);
}

/** The exit code of a session that has ended. */
export function exitCodeOf({ state }: Pick<SessionSummary, 'state'>): number {
  if (state === 'finished') return exitCodes.finished;
  if (state === 'limited') return exitCodes.limited;
  return state === 'stopped' ? exitCodes.interrupted : exitCodes.failed;
}
