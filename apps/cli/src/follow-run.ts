import { AppError, isEnded, isEvent, type Event, type SessionSummary } from '@belay/protocol';
import type { BelayClient, LiveConnection, TerminalBytes } from '@belay/client';
import { LiveStatus } from './live-status.js';
import { outputTo, type LineOutput } from './output.js';
import type { TerminalUser } from './terminal-user.js';
import { Questions } from './questions.js';
import { StatusLine } from './status-line.js';
import { Transcript } from './transcript.js';

/** What is printed to standard output: a transcript, one JSON event per line, or only the final message. */
export type Format = 'words' | 'json' | 'quiet';

export interface FollowOptions {
  id: string;
  client: BelayClient;
  live: LiveConnection;
  format: Format;
  user: TerminalUser | undefined;
  progress: LineOutput;
  /** The session’s state when it was joined: earlier events are printed, and only open questions are asked. */
  joined?: SessionSummary;
  /** Events up to this one are not printed. */
  after?: number;
  /** The effect of Ctrl-C. */
  interrupt: 'stop' | 'leave';
}

export interface RunOutcome {
  /** What the user must answer, if there is no terminal to ask at. */
  needsUser?: string;
  /** Why the model cannot be called until the user acts, if there is no terminal to ask at. */
  modelError?: string;
  interrupted: boolean;
  /** Files that the agent changed. */
  changed: string[];
  /** New commits in the workspace’s own repository. */
  ownCommits: number;
}

/** Follows a session to its end: prints it, asks its questions, and stops or leaves it on Ctrl-C. */
export async function followRun(run: FollowOptions): Promise<RunOutcome> {
  const ended = Promise.withResolvers<Pick<RunOutcome, 'needsUser' | 'modelError'> | undefined>();
  const joinedAt = run.joined?.lastSeq ?? 0;
  let interrupted = 0;
  const ending = new Ending();
  const status = run.format === 'words' && isWatched() ? new StatusLine(process.stderr) : undefined;
  const doing = status && new LiveStatus((words, since) => status.show(words, since));
  const output = outputTo(process.stdout);
  const words = run.format === 'words' ? output : { ...output, line: () => undefined };
  const transcript = new Transcript(status?.over(words) ?? words, run.user !== undefined);
  const progress = status?.over(run.progress) ?? run.progress;
  const questions = new Questions(run, {
    unanswerable: (needsUser) => ended.resolve({ needsUser }),
    unusable: (modelError) => ended.resolve({ modelError }),
    failed: ended.reject,
    asking: (open) => status?.hold(open),
  });
  const stop = () => {
    interrupted += 1;
    if (run.interrupt === 'leave' || interrupted > 1) return ended.resolve(undefined);
    progress.line('Stopping the session. Press Ctrl-C again to exit at once.');
    run.client.sessions.stop(run.id).catch(ended.reject);
  };
  const print = (event: Event) => {
    if (run.format === 'json') output.json(event);
    transcript.see(event);
    doing?.see(event);
  };
  const events = (batch: Event[]) => {
    for (const event of batch) {
      print(event);
      ending.begin(event);
      if (event.seq < joinedAt) continue;
      if (event.seq === joinedAt) questions.join(run.joined);
      else questions.see(event);
      if (ending.see(event)) ended.resolve(undefined);
    }
  };
  const after = run.after ?? 0;
  if (run.joined && after >= joinedAt) questions.join(run.joined);
  const listener = {
    events,
    refused: (error: AppError) => ended.reject(error),
    delta: (_: unknown, text: string) => doing?.add(text),
    terminal: ({ bytes }: TerminalBytes) => doing?.add(Buffer.from(bytes).toString()),
  };
  const watch = run.live.watch(run.id, listener, { after });
  const offState = run.live.onState((state) => {
    if (state === 'refused')
      ended.reject(new AppError('unauthorized', 'The server rejected the token.'));
    if (state === 'reconnecting') progress.line('The server does not respond. Waiting for it…');
  });
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const open = await ended.promise;
    const { changed, ownCommits } = transcript;
    return { ...open, interrupted: interrupted > 0, changed: [...changed], ownCommits };
  } finally {
    questions.close();
    status?.close();
    watch.close();
    offState();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

/** A session with a check ends with the check; a stopped session is not checked. */
class Ending {
  #isChecked = false;

  begin(event: Event): void {
    if (isEvent(event, 'start')) this.#isChecked = event.args.check !== null;
  }

  /** Whether this event completes the session. */
  see(event: Event): boolean {
    if (isEvent(event, 'check')) return event.args.state !== 'running';
    if (!isEvent(event, 'state') || !isEnded(event.args.state)) return false;
    return !this.#isChecked || event.args.state === 'stopped';
  }
}

/** Whether both streams are terminals. */
function isWatched(): boolean {
  return process.stdout.isTTY && process.stderr.isTTY && process.env.TERM !== 'dumb';
}
