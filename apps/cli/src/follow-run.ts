import { AppError, isEnded, isFact, type Event, type SessionSummary } from '@belay/protocol';
import type { BelayClient, Live } from '@belay/client';
import { outputTo, type Output } from './output.js';
import type { Person } from './person.js';
import { Questions } from './questions.js';
import { renderEvent } from './render.js';

export interface Run {
  id: string;
  client: BelayClient;
  live: Live;
  /** One event as JSON per line on standard output, instead of words. */
  json: boolean;
  person: Person | undefined;
  /** As the session is already: what came before is printed, and only what still waits is asked. */
  joined?: SessionSummary;
  /** What Ctrl-C does. */
  interrupt: 'stop' | 'leave';
}

export interface RunOutcome {
  /** What waits for a person whom nobody can ask here. */
  needsPerson?: string;
  interrupted: boolean;
}

/** Follows a session to its end: prints it, asks its questions, and stops or leaves it on Ctrl-C. */
export async function followRun(run: Run): Promise<RunOutcome> {
  const ended = Promise.withResolvers<RunOutcome>();
  const joinedAt = run.joined?.lastSeq ?? 0;
  let interrupted = false;
  const output = outputTo(process.stdout);
  const questions = new Questions(run, {
    nobody: (what) => ended.resolve({ needsPerson: what, interrupted }),
    failed: ended.reject,
  });
  const stop = () => {
    interrupted = true;
    if (run.interrupt === 'leave') return ended.resolve({ interrupted });
    run.client.sessions.stop(run.id).catch(ended.reject);
  };
  const events = (batch: Event[]) => {
    for (const event of batch) {
      print(event, run.json, output);
      if (event.seq < joinedAt) continue;
      if (event.seq === joinedAt) questions.join(run.joined);
      else questions.see(event);
      if (isFact(event, 'state') && isEnded(event.args.state)) ended.resolve({ interrupted });
    }
  };
  const watch = run.live.watch(run.id, {
    events,
    refused: (error: AppError) => ended.reject(error),
  });
  run.live.onState((state) => {
    if (state === 'refused')
      ended.reject(
        new AppError('unauthorized', 'The server refused the token; check BELAY_TOKEN.'),
      );
  });
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await ended.promise;
  } finally {
    questions.close();
    watch.close();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

function print(event: Event, json: boolean, output: Output): void {
  const text = json ? JSON.stringify(event) : renderEvent(event, output);
  if (text !== undefined) output.line(text);
}
