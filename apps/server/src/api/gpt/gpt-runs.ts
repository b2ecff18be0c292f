import { randomUUID } from 'node:crypto';
import { AppError, gptPageCharacters, type GptRun } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { Caller } from '../../access/caller.js';

export interface PendingRun {
  readonly id: string;
  readonly began: number;
  /** Whether the user is being asked. */
  asking: boolean;
  /** The result as JSON, or the error; undefined until then. */
  result: { text: string } | { error: unknown } | undefined;
  ended: Promise<void>;
}

const limits = {
  /** Limits for one caller: running calls, and stored results. */
  pending: 20,
  kept: 100,
  characters: 32 * 2 ** 20,
  keptMs: 3600_000,
};

/** Calls of GPTs, which continue after their responses time out; results are kept for an hour. */
export class GptRuns {
  readonly #callers = new Map<string, Map<string, PendingRun>>();

  /** Starts work, which continues when its caller stops waiting. Throws `limit_reached`. */
  begin(caller: Caller, work: (run: PendingRun) => Promise<unknown>): PendingRun {
    const runs = this.#of(caller);
    const pending = [...runs.values()].filter(({ result }) => result === undefined).length;
    if (pending >= limits.pending) {
      throw new AppError(
        'limit_reached',
        `${pending} calls are already running. Wait for one of them.`,
      );
    }
    const run: PendingRun = {
      id: randomUUID(),
      began: Date.now(),
      asking: false,
      result: undefined,
      ended: Promise.resolve(),
    };
    run.ended = work(run).then(
      (output) => void (run.result = { text: JSON.stringify(output) ?? 'null' }),
      (error: unknown) => void (run.result = { error }),
    );
    runs.set(run.id, run);
    this.#bound(runs);
    return run;
  }

  find(caller: Caller, id: string): PendingRun {
    const run = this.#callers.get(caller.id)?.get(id);
    if (run) return run;
    throw new AppError(
      'not_found',
      'There is no such run: results are kept for an hour, until the server restarts or another one takes over. Look at the session before you repeat the call.',
    );
  }

  #of({ id }: Caller): Map<string, PendingRun> {
    const runs = this.#callers.get(id) ?? new Map<string, PendingRun>();
    this.#callers.set(id, runs);
    return runs;
  }

  /** Removes the oldest results for new ones. */
  #bound(runs: Map<string, PendingRun>): void {
    const sizes = new Map([...runs.values()].map((run) => [run.id, sizeOf(run)]));
    let size = [...sizes.values()].reduce((sum, each) => sum + each, 0);
    for (const run of runs.values()) {
      const isOld = Date.now() - run.began > limits.keptMs;
      if (!isOld && runs.size <= limits.kept && size <= limits.characters) return;
      if (run.result === undefined) continue;
      runs.delete(run.id);
      size -= sizes.get(run.id) ?? 0;
    }
  }
}

const sizeOf = ({ result }: PendingRun): number =>
  result && 'text' in result ? result.text.length : 0;

/** The state of a run after some seconds; throws what its work threw. */
export async function answerOf(run: PendingRun, { seconds, from = 0 }: Asked): Promise<GptRun> {
  await inTime(run.ended, seconds * 1_000, () => undefined);
  const { id, asking, result } = run;
  if (result === undefined) return { run: id, status: asking ? 'asking' : 'running' };
  if ('error' in result) throw result.error;
  const { text } = result;
  if (from > text.length) {
    throw new AppError('invalid_input', `The result has ${text.length} characters.`);
  }
  if (text.length <= gptPageCharacters && from === 0) {
    return { run: id, status: 'done', output: JSON.parse(text) as unknown };
  }
  const end = from + gptPageCharacters;
  const next = end < text.length ? end : null;
  return { run: id, status: 'done', text: text.slice(from, end), next };
}

interface Asked {
  seconds: number;
  /** The start of a page of a long result. */
  from?: number;
}
