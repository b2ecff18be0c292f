import type { BelayClient } from '@belay/client';
import {
  AppError,
  type EvaluationFacts,
  type EvaluationProgress,
  type EvaluationTrial,
} from '@belay/protocol';
import type { TrialRecord } from './record.js';

/** A run says this often that it is still there. */
const beatMs = 15_000;
/** Between two reports, so that a quick suite does not ask the server for every trial. */
const pauseMs = 150;
const longestPauseMs = 5_000;
/** How long the end of a run waits for a server that does not answer. */
const farewellMs = 5_000;
const trialsAtOnce = 50;

/** A trial with the record of it that is sent along: read when its turn has come. */
export interface PendingTrial {
  trial: EvaluationTrial;
  record?: () => TrialRecord;
}

export interface ReporterOptions {
  id: string;
  facts: EvaluationFacts;
  /** Called once when the server takes no more reports of this run. */
  refused(error: AppError): void;
}

/**
 * Tells the server how a run stands, behind the run's back: nothing waits for it and none of its failures
 * reaches the run. Only the newest state of each trial is kept for sending, so a server that is away for long
 * costs no memory, and what was not acknowledged is sent again.
 */
export class Reporter {
  readonly #pending = new Map<string, PendingTrial>();
  #progress: EvaluationProgress | undefined;
  #wake: () => void = () => undefined;
  #closing = false;
  /** Nothing is sent any more. */
  #over = false;
  readonly #delivered: Promise<void>;

  private constructor(
    private readonly client: BelayClient,
    private readonly id: string,
    private readonly epoch: number,
    private readonly refused: (error: AppError) => void,
  ) {
    this.#delivered = this.#deliver();
  }

  /** Resolves with what the server knows of the run already; rejects when there is no server. */
  static async open(
    client: BelayClient,
    { id, facts, refused }: ReporterOptions,
  ): Promise<{ reporter: Reporter; known: EvaluationTrial[] }> {
    const { epoch, trials } = await client.evaluations.open(id, facts);
    return { reporter: new Reporter(client, id, epoch, refused), known: trials };
  }

  put(pending: PendingTrial, progress: EvaluationProgress): void {
    if (this.#over) return;
    this.#pending.set(keyOf(pending.trial), pending);
    this.say(progress);
  }

  say(progress: EvaluationProgress): void {
    if (this.#over) return;
    this.#progress = progress;
    this.#wake();
  }

  /** Sends what is left, and answers whether all of it arrived; a server that is away is not waited for. */
  async close(): Promise<boolean> {
    this.#closing = true;
    this.#wake();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, farewellMs)));
    await Promise.race([this.#delivered, late]);
    clearTimeout(timer);
    this.#over = true;
    return this.#isEmpty;
  }

  get #isEmpty(): boolean {
    return this.#pending.size === 0 && !this.#progress;
  }

  async #deliver(): Promise<void> {
    let failures = 0;
    while (!this.#over) {
      if (this.#isEmpty && !this.#closing) await this.#somethingOr(beatMs);
      if (this.#isEmpty && this.#closing) return;
      failures = (await this.#reportNext()) ? 0 : failures + 1;
      await this.#pause(Math.min(pauseMs * 2 ** failures, longestPauseMs));
    }
  }

  /** Whether the server has it; what it has not is put back, unless something newer has come since. */
  async #reportNext(): Promise<boolean> {
    const batch = [...this.#pending].slice(0, trialsAtOnce);
    const progress = this.#progress;
    for (const [key] of batch) this.#pending.delete(key);
    this.#progress = undefined;
    try {
      await this.#send(batch, progress);
      return true;
    } catch (error) {
      if (error instanceof AppError && refusals.has(error.code)) this.#end(error);
      else {
        for (const [key, pending] of batch)
          if (!this.#pending.has(key)) this.#pending.set(key, pending);
        this.#progress ??= progress;
      }
      return false;
    }
  }

  async #send(
    batch: [string, PendingTrial][],
    progress: EvaluationProgress | undefined,
  ): Promise<void> {
    const trials: EvaluationTrial[] = [];
    for (const [, { trial, record }] of batch)
      trials.push(record ? { ...trial, ...(await this.#uploaded(record())) } : trial);
    await this.client.evaluations.report(this.id, {
      epoch: this.epoch,
      trials,
      ...(progress && { progress }),
    });
  }

  async #uploaded({ answer, log }: TrialRecord): Promise<Pick<EvaluationTrial, 'answer' | 'log'>> {
    const put = async (text: string | null) =>
      text === null
        ? null
        : (await this.client.uploadBlob(new TextEncoder().encode(text), 'text/plain')).blob;
    return { answer: await put(answer), log: await put(log) };
  }

  /** Resolves when there is something to send, or after so many milliseconds. */
  #somethingOr(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#closing ? Math.min(ms, 50) : ms));
  }

  /** For example another process has the run now, or a person took it off the board. */
  #end(error: AppError): void {
    this.#pending.clear();
    this.#progress = undefined;
    this.#over = true;
    this.refused(error);
  }
}

/** Refusals that no repetition changes. */
const refusals: ReadonlySet<string> = new Set([
  'conflict',
  'not_found',
  'unauthorized',
  'forbidden',
  'invalid_input',
]);

export const keyOf = ({ task, attempt }: Pick<EvaluationTrial, 'task' | 'attempt'>): string =>
  JSON.stringify([task, attempt]);
