import {
  isEnded,
  visibleText,
  wallSeconds,
  pluralText,
  countText,
  dollarsText,
  durationText,
  type SessionSummary,
} from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import type { Format, RunOutcome } from './follow-run.js';
import { changedPaths } from './workspace/patch-paths.js';
import { outputTo, singleLine, type LineOutput } from './output.js';

/** Exit codes of `belay`; 5 belongs to errors of the code `unavailable`. */
export const exitCodes = {
  finished: 0,
  failed: 1,
  usage: 2,
  limited: 3,
  needsUser: 4,
  modelError: 6,
  interrupted: 130,
} as const;

interface Concluded {
  id: string;
  client: BelayClient;
  url: string;
  progress: LineOutput;
  format: Format;
  /** Whether the changes have already been written or applied. */
  taken?: boolean;
}

/** Prints the outcome of a followed session and returns the exit code. */
export async function conclude(outcome: RunOutcome, about: Concluded): Promise<number> {
  const { id, client, url, progress, format } = about;
  if (outcome.needsUser) {
    progress.line(
      `${outcome.needsUser} Answer at ${url}/sessions/${id}, or with: belay attach ${id}`,
    );
    return exitCodes.needsUser;
  }
  if (outcome.modelError !== undefined) {
    progress.line(
      `${visibleText(outcome.modelError)} The session waits. Fix the cause at ${url}/sessions/${id} (key, model), or try again with: belay say ${id} "Go on"`,
    );
    return exitCodes.modelError;
  }
  const summary = await client.sessions.get(id);
  const reason = visibleText(summary.reason ?? '');
  if (format === 'quiet' && summary.state === 'finished') outputTo(process.stdout).line(reason);
  else if (format !== 'words' && reason) progress.line(`${summary.state}: ${reason}`);
  const changed = await changedIn(summary, outcome, client);
  const figures = figuresOf(summary, changed, outcome.ownCommits);
  progress.line(progress.style('dim', figures.join(' · ')));
  if (outcome.ownCommits > 0)
    progress.line(
      progress.style('dim', commitsSentence(outcome.ownCommits, `${url}/api/sessions/${id}`)),
    );
  if (!isEnded(summary.state))
    progress.line(`The session is still running. Follow it with: belay attach ${id}`);
  else if (changed.length > 0 && !about.taken)
    progress.line(progress.style('dim', `Apply the changes with: belay patch ${id} --apply .`));
  return outcome.interrupted ? exitCodes.interrupted : exitCodeOf(summary);
}

/** The files in the patch. Without a patch, or for a session that has not ended, the files named in the log. */
async function changedIn(
  { id, state }: SessionSummary,
  { changed }: RunOutcome,
  client: BelayClient,
): Promise<string[]> {
  if (!isEnded(state)) return changed;
  try {
    return changedPaths(await client.sessions.patch(id));
  } catch {
    return changed;
  }
}

/** The exit code of an ended session; a failed check counts as a failure. */
export function exitCodeOf({
  state,
  check,
}: Pick<SessionSummary, 'state'> & Partial<Pick<SessionSummary, 'check'>>): number {
  if (state === 'finished')
    return check && check.exitCode !== 0 ? exitCodes.failed : exitCodes.finished;
  if (state === 'limited') return exitCodes.limited;
  return state === 'stopped' ? exitCodes.interrupted : exitCodes.failed;
}

export function figuresOf(
  { state, steps, tokens, dollars, workTime }: SessionSummary,
  changed: string[],
  ownCommits = 0,
): string[] {
  const names = changed
    .slice(0, 3)
    .map((name) => singleLine(name))
    .join(', ');
  const more = changed.length > 3 ? ` and ${changed.length - 3} more` : '';
  return [
    state,
    pluralText(steps, 'step'),
    `${countText(tokens)} tokens`,
    ...(dollars > 0 ? [dollarsText(dollars)] : []),
    durationText(wallSeconds(workTime, Date.now())),
    ...(names ? [`changed ${names}${more}`] : []),
    ...(ownCommits > 0 ? [`${pluralText(ownCommits, 'commit')} by the agent`] : []),
  ];
}

/** What the patch contains of the agent’s commits, and where to get the commits. */
const commitsSentence = (commits: number, session: string): string =>
  `The patch contains the agent’s ${pluralText(commits, 'commit')} as changed files. To get the commits with author and message, download the files with their .git: ${session}/export?format=tar`;
