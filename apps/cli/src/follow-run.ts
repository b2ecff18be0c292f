import { AppError, isEnded, isFact, type Event, type SessionSummary } from '@belay/protocol';
import type { BelayClient, Live, TerminalBytes } from '@belay/client';
import { LiveStatus } from './live-status.js';
import { outputTo, type Output } from './output.js';
import type { Person } from './person.js';
import { Questions } from './questions.js';
import { StatusLine } from './status-line.js';
import { Transcript } from './transcript.js';

/** What of a session goes to standard output: words, an event as JSON per line, or nothing before its end. */
export type Format = 'words' | 'json' | 'quiet';

export interface Run {
  id: string;
  client: BelayClient;
  live: Live;
  format: Format;
  person: Person | undefined;
  progress: Output;
  /** As the session is already: what came before is printed, and only what still waits is asked. */
  joined?: SessionSummary;
  /** What is not printed: the log up to here. */
  after?: number;
  /** What Ctrl-C does. */
  interrupt: 'stop' | 'leave';
}

export interface RunOutcome {
  /** What waits for a person whom nobody can ask here. */
  needsPerson?: string;
  interrupted: boolean;
  /** Files that the agent changed. */
  changed: string[];
}

/** Follows a session to its end: prints it, asks its questions, and stops or leaves it on Ctrl-C. */
export async function followRun(run: Run): Promise<RunOutcome> {
  const ended = Promise.withResolvers<string | undefined>();
  const joinedAt = run.joined?.lastSeq ?? 0;
  let interrupted = 0;
  const status = run.format === 'words' && isWatched() ? new StatusLine(process.stderr) : undefined;
  const doing = status && new LiveStatus((words, since) => status.show(words, since));
  const output = outputTo(process.stdout);
  const words = run.format === 'words' ? output : { ...output, line: () => undefined };
  const transcript = new Transcript(status?.over(words) ?? words, run.person !== undefined);
  const progress = status?.over(run.progress) ?? run.progress;
  const questions = new Questions(run, {
    nobody: ended.resolve,
    failed: ended.reject,
    asking: (open) => status?.hold(open),
  });
  const stop = () => {
    interrupted += 1;
    if (run.interrupt === 'leave' || interrupted > 1) return ended.resolve(undefined);
    progress.line('Stopping the session; Ctrl-C again leaves at once.');
    run.client.sessions.stop(run.id).catch(ended.reject);
  };
  const print = (event: Event) => {
    if (run.format === 'json') output.line(JSON.stringify(event));
    transcript.see(event);
    doing?.see(event);
  };
  const events = (batch: Event[]) => {
    for (const event of batch) {
      print(event);
      if (event.seq < joinedAt) continue;
      if (event.seq === joinedAt) questions.join(run.joined);
      else questions.see(event);
      if (isFact(event, 'state') && isEnded(event.args.state)) ended.resolve(undefined);
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
    if (state === 'refused') ended.reject(new AppError('unauthorized', 'The token was refused.'));
    if (state === 'reconnecting') progress.line('The server does not answer; waiting for it…');
  });
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const needsPerson = await ended.promise;
    return { needsPerson, interrupted: interrupted > 0, changed: [...transcript.changed] };
  } finally {
    questions.close();
    status?.close();
    watch.close();
    offState();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

/** Whether a person looks at both streams at once. */
function isWatched(): boolean {
  return process.stdout.isTTY && process.stderr.isTTY && process.env.TERM !== 'dumb';
}
