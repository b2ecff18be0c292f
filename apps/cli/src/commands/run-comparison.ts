import {
  comparedNames,
  isEnded,
  nameOfFailed,
  needsUser,
  visibleText,
  type Comparison,
  type NewComparison,
  type SessionSummary,
} from '@belay/protocol';
import type { BelayClient, LiveConnection } from '@belay/client';
import { exitCodeOf, exitCodes, figuresOf } from '../outcome.js';
import { outputTo, singleLine, type LineOutput } from '../output.js';
import { changedPaths } from '../workspace/patch-paths.js';

interface ComparedRun {
  client: BelayClient;
  live: LiveConnection;
  url: string;
  progress: LineOutput;
  json: boolean;
}

/** Starts a comparison and follows it until all its sessions and checks have ended. Returns the exit code. */
export async function runComparison(request: NewComparison, run: ComparedRun): Promise<number> {
  const { client, url, progress, json } = run;
  const begun = await client.comparisons.create(request);
  progress.line(progress.style('dim', `${url}/compare/${begun.id}`));
  for (const failed of begun.failed) {
    const sentence = `✗ ${nameOfFailed(failed)} was not started. ${visibleText(failed.error)}`;
    progress.line(progress.style('red', sentence));
  }
  const { allWait, interrupted } = await follow(begun, run);
  const ended = await client.comparisons.get(begun.id);
  const output = outputTo(process.stdout);
  if (json) output.json(ended);
  else {
    const names = namesIn(ended);
    for (const session of ended.sessions) await printOutcome(session, { client, output, names });
  }
  if (interrupted) return exitCodes.interrupted;
  if (allWait) return exitCodes.needsUser;
  progress.line(progress.style('dim', `Compare and keep one: ${url}/compare/${begun.id}`));
  return exitCodeOfAll(ended);
}

/** The exit code of the best session: one that has finished, and passed its check if it has one. */
function exitCodeOfAll({ sessions }: Comparison): number {
  const codes = sessions.map((session) => exitCodeOf(session));
  return codes.includes(exitCodes.finished) ? exitCodes.finished : (codes[0] ?? exitCodes.failed);
}

/** By the ids of the sessions. */
type Names = ReadonlyMap<string, string>;

function namesIn({ sessions }: Comparison): Names {
  const names = comparedNames(sessions);
  return new Map(sessions.map(({ id }, at) => [id, singleLine(names[at] ?? '', Infinity)]));
}

async function printOutcome(
  session: SessionSummary,
  { client, output, names }: { client: BelayClient; output: LineOutput; names: Names },
): Promise<void> {
  const { id, check } = session;
  const changed = await client.sessions.patch(id).then(changedPaths, () => []);
  output.line(`${output.style('bold', names.get(id) ?? '')}  ${id}`);
  output.line(`  ${figuresOf(session, changed).join(' · ')}`);
  if (!check) return;
  const passed = check.exitCode === 0;
  const words =
    check.exitCode !== null
      ? `check ${passed ? 'passed' : 'failed'}: exit code ${check.exitCode}`
      : check.reason === null
        ? 'check not run'
        : `check not run: ${singleLine(check.reason)}`;
  output.line(`  ${output.style(passed ? 'green' : 'red', words)}`);
}

interface Followed {
  /** All remaining sessions wait for the user, and there is no terminal to ask at. */
  allWait: boolean;
  interrupted: boolean;
}

async function follow(
  comparison: Comparison,
  { client, live, url, progress }: ComparedRun,
): Promise<Followed> {
  const names = namesIn(comparison);
  const known = new Map(comparison.sessions.map((session) => [session.id, session]));
  const reported = new Map<string, string>();
  const done = Promise.withResolvers<boolean>();
  let interrupted = 0;
  const see = (session: SessionSummary): void => {
    known.set(session.id, session);
    const words = progressOf(session, url);
    if (words !== '' && reported.get(session.id) !== words)
      progress.line(`${names.get(session.id) ?? ''}: ${words}`);
    if (words !== '') reported.set(session.id, words);
    const open = [...known.values()].filter((each) => !isOver(each));
    if (open.length === 0) done.resolve(false);
    else if (!process.stdin.isTTY && open.every(needsUser)) done.resolve(true);
  };
  const stop = (): void => {
    interrupted += 1;
    if (interrupted > 1) return done.resolve(false);
    progress.line('Stopping the sessions. Press Ctrl-C again to exit at once.');
    for (const { id } of known.values()) client.sessions.stop(id).catch(done.reject);
  };
  const watch = live.fleet((id, summary) => {
    if (!known.has(id)) return;
    if (summary) see(summary);
    else {
      known.delete(id);
      if (known.size === 0) done.resolve(false);
    }
  });
  // Handles changes from before the feed began.
  const catchUp = async (): Promise<void> => {
    for (const id of known.keys()) see(await client.sessions.get(id));
  };
  catchUp().catch(done.reject);
  const offState = live.onState((state) => {
    if (state === 'live') catchUp().catch(done.reject);
    if (state === 'reconnecting') progress.line('The server does not respond. Waiting for it…');
  });
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const allWait = await done.promise;
    return { allWait, interrupted: interrupted > 0 };
  } finally {
    watch.close();
    offState();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

/** Whether the session and its check have ended. */
const isOver = ({ state, check }: SessionSummary): boolean =>
  isEnded(state) &&
  (state === 'stopped' || check === null || check.state === 'ended' || check.state === 'failed');

function progressOf(session: SessionSummary, url: string): string {
  const { id, state, reason, check } = session;
  if (state === 'running') return 'running';
  if (state === 'waiting' && !needsUser(session)) return singleLine(reason ?? 'waiting');
  if (state === 'waiting')
    return `needs you: ${singleLine(reason ?? '')} Answer at ${url}/sessions/${id}, or with: belay attach ${id}`;
  if (!isEnded(state)) return '';
  const checked = check?.state === 'running' ? '; the check is running' : '';
  return `${state}${checked}`;
}
