import { isEnded, type SessionSummary } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import type { Format, RunOutcome } from './follow-run.js';
import { oneLine, outputTo, visible, type Output } from './output.js';

/** Exit codes of `belay`; 5 comes with errors of the code `unavailable`. */
export const exitCodes = {
  finished: 0,
  failed: 1,
  usage: 2,
  limited: 3,
  needsPerson: 4,
  interrupted: 130,
} as const;

interface Concluded {
  id: string;
  client: BelayClient;
  url: string;
  progress: Output;
  format: Format;
  /** The changes are in the person's hands already. */
  taken?: boolean;
}

/** Says how a session that was followed stands now, and answers the exit code. */
export async function conclude(outcome: RunOutcome, about: Concluded): Promise<number> {
  const { id, client, url, progress, format } = about;
  if (outcome.needsPerson) {
    progress.line(
      `${outcome.needsPerson} It waits at ${url}/sessions/${id}, or for: belay attach ${id}`,
    );
    return exitCodes.needsPerson;
  }
  const summary = await client.sessions.get(id);
  const reason = visible(summary.reason ?? '');
  if (format === 'quiet' && summary.state === 'finished') outputTo(process.stdout).line(reason);
  else if (format !== 'words' && reason) progress.line(`${summary.state}: ${reason}`);
  progress.line(progress.style('dim', figuresOf(summary, outcome.changed).join(' · ')));
  if (!isEnded(summary.state)) progress.line(`It goes on; follow it with: belay attach ${id}`);
  else if (outcome.changed.length > 0 && !about.taken)
    progress.line(progress.style('dim', `take the changes: belay patch ${id} | git apply`));
  return outcome.interrupted ? exitCodes.interrupted : exitCodeOf(summary);
}

/** The exit code of a session that has ended. */
export function exitCodeOf({ state }: Pick<SessionSummary, 'state'>): number {
  if (state === 'finished') return exitCodes.finished;
  if (state === 'limited') return exitCodes.limited;
  return state === 'stopped' ? exitCodes.interrupted : exitCodes.failed;
}

export function figuresOf(
  { state, steps, tokens, dollars, wallTime }: SessionSummary,
  changed: string[],
): string[] {
  const running = wallTime.since ? (Date.now() - Date.parse(wallTime.since)) / 1000 : 0;
  const names = changed
    .slice(0, 3)
    .map((name) => oneLine(name))
    .join(', ');
  const more = changed.length > 3 ? ` and ${changed.length - 3} more` : '';
  return [
    state,
    `${steps} ${steps === 1 ? 'step' : 'steps'}`,
    `${compact.format(tokens)} tokens`,
    ...(dollars > 0 ? [`$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`] : []),
    duration(wallTime.seconds + running),
    ...(names ? [`changed ${names}${more}`] : []),
  ];
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
