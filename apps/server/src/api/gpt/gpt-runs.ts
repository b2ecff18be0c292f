import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { AppError, errorFrom, errorShape, gptPageCharacters, type GptRun } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import { z } from 'zod';
import type { Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import { ExpiringValues } from '../../storage/expiring-values.js';

export interface PendingRun {
  readonly id: string;
  readonly began: number;
  /** Whether the user is being asked. */
  asking: boolean;
  /** The result as JSON, or the error; undefined until then. */
  result: { text: string } | { error: unknown } | undefined;
  ended: Promise<void>;
}

/** What is stored of a run that has ended. */
const endedRun = z.object({
  began: z.number(),
  result: z.union([z.object({ text: z.string() }), z.object({ error: errorShape })]),
});

const limits = {
  /** Limits for one caller: running calls, and kept results. */
  pending: 20,
  kept: 100,
  characters: 32 * 2 ** 20,
  keptMs: 3600_000,
  /** Those in the database: of one result, and of all. */
  stored: { each: 2 ** 20, all: 8 * 2 ** 20 },
};

const kind = 'gpt-run';

/**
 * Calls of GPTs, which continue after their responses time out. Results are kept for an hour, and but for very long ones
 * also after the end of this server.
 */
@Injectable()
export class GptRuns {
  readonly #logger = new Logger(GptRuns.name);
  readonly #callers = new Map<string, Map<string, PendingRun>>();

  constructor(
    private readonly values: ExpiringValues,
    private readonly ends: CallerEnds,
  ) {}

  /**
   * Starts work, which continues when its caller stops waiting, and is cancelled when its access ends. Throws
   * `limit_reached`.
   */
  begin(
    caller: Caller,
    work: (run: PendingRun, signal: AbortSignal) => Promise<unknown>,
  ): PendingRun {
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
    const ended = new AbortController();
    const off = this.ends.on(caller, () => ended.abort());
    run.ended = work(run, ended.signal)
      .finally(off)
      .then(
        (output) => ({ text: JSON.stringify(output) ?? 'null' }),
        (error: unknown) => ({ error }),
      )
      .then(async (result) => {
        await this.#store(caller, run, result);
        run.result = result;
      });
    this.#add(runs, run);
    return run;
  }

  async find(caller: Caller, id: string): Promise<PendingRun> {
    const known = this.#callers.get(caller.id)?.get(id);
    if (known) return known;
    const stored = await this.#stored(caller, id);
    if (!stored)
      throw new AppError(
        'not_found',
        'There is no such run: results are kept for an hour, and a call ends with the server that makes it. Look at the session before you repeat the call.',
      );
    this.#add(this.#of(caller), stored);
    return stored;
  }

  #of({ id }: Caller): Map<string, PendingRun> {
    const runs = this.#callers.get(id) ?? new Map<string, PendingRun>();
    this.#callers.set(id, runs);
    return runs;
  }

  /** Removes the oldest results for new ones. */
  #add(runs: Map<string, PendingRun>, added: PendingRun): void {
    runs.set(added.id, added);
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

  /** A result that cannot be stored is kept as long as this server runs. */
  async #store(
    caller: Caller,
    { id, began }: PendingRun,
    result: { text: string } | { error: unknown },
  ): Promise<void> {
    // What else was thrown is for the server’s log alone.
    if ('error' in result && !(result.error instanceof AppError)) return;
    const text = JSON.stringify({ began, result });
    if (text.length > limits.stored.each) return;
    const { id: owner } = caller;
    const expires = Date.now() + limits.keptMs;
    const size = text.length;
    try {
      await this.values.add({ kind, secret: secretOf(caller, id), owner, text, expires, size });
      await this.values.limitOf(kind, owner, { rows: limits.kept, size: limits.stored.all });
    } catch (error) {
      this.#logger.error(errorFrom(error).message);
    }
  }

  async #stored(caller: Caller, id: string): Promise<PendingRun | undefined> {
    const found = await this.values.find(kind, secretOf(caller, id));
    if (!found) return undefined;
    const { began, result } = endedRun.parse(JSON.parse(found.text));
    const read = 'error' in result ? { error: errorFrom(result.error) } : result;
    return { id, began, asking: false, result: read, ended: Promise.resolve() };
  }
}

/** The caller is a part of the secret: nobody finds the result of another. */
const secretOf = (caller: Caller, run: string): string => JSON.stringify([caller.id, run]);

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
