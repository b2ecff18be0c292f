import type { BelayClient } from '@belay/client';
import {
  AppError,
  type EvaluationInfo,
  type EvaluationProgress,
  type EvaluationTrial,
} from '@belay/protocol';
import type { TrialTexts } from './trial-texts.js';

/** A run sends a report at least this often, as a sign of life. */
const heartbeatIntervalMs = 15_000;
/** Minimum time between two reports, so that trials of a fast suite are sent together. */
const reportIntervalMs = 150;
const maxRetryDelayMs = 5_000;
/** How long `close` waits for a server that does not respond. */
const closeTimeoutMs = 5_000;
const maxTrialsPerReport = 50;

/** A trial with its record, which is read only when the trial is sent. */
export interface PendingTrial {
  trial: EvaluationTrial;
  record?: () => TrialTexts;
}

export interface ReporterOptions {
  id: string;
  info: EvaluationInfo;
  /** Called once, when the server no longer accepts reports of this run. */
  refused(error: AppError): void;
}

/**
 * Reports a run's progress to the server in the background: the run never waits for the server and
 * never fails because of it. Only the latest state of each trial is queued, which bounds memory
 * while the server is unreachable; unacknowledged reports are sent again.
 */
export class Reporter {
  readonly #pending = new Map<string, PendingTrial>();
  #progress: EvaluationProgress | undefined;
  #wake: () => void = () => undefined;
  #closing = false;
  /** Whether sending has stopped. */
  #stopped = false;
  readonly #delivered: Promise<void>;

  readonly #client: BelayClient;
  readonly #id: string;
  readonly #epoch: number;
  readonly #refused: (error: AppError) => void;

  /** Called only by `open`. */
  constructor(opened: { client: BelayClient; epoch: number } & Omit<ReporterOptions, 'info'>) {
    this.#client = opened.client;
    this.#id = opened.id;
    this.#epoch = opened.epoch;
    this.#refused = opened.refused;
    this.#delivered = this.#deliver();
  }

  /** Resolves with the trials that the server already has; rejects when no server responds. */
  static async open(
    client: BelayClient,
    { id, info, refused }: ReporterOptions,
  ): Promise<{ reporter: Reporter; known: EvaluationTrial[] }> {
    const { epoch, trials } = await client.evaluations.open(id, info);
    return { reporter: new Reporter({ client, id, epoch, refused }), known: trials };
  }

  put(pending: PendingTrial, progress: EvaluationProgress): void {
    if (this.#stopped) return;
    this.#pending.set(boardKey(pending.trial), pending);
    this.setProgress(progress);
  }

  setProgress(progress: EvaluationProgress): void {
    if (this.#stopped) return;
    this.#progress = progress;
    this.#wake();
  }

  /** Sends what is queued and returns whether all of it was stored, after 5 s at most. */
  async close(): Promise<boolean> {
    this.#closing = true;
    this.#wake();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, closeTimeoutMs)));
    await Promise.race([this.#delivered, late]);
    clearTimeout(timer);
    this.#stopped = true;
    return this.#isEmpty;
  }

  get #isEmpty(): boolean {
    return this.#pending.size === 0 && !this.#progress;
  }

  async #deliver(): Promise<void> {
    let failures = 0;
    while (!this.#stopped) {
      if (this.#isEmpty && !this.#closing) await this.#workOrTimeout(heartbeatIntervalMs);
      if (this.#isEmpty && this.#closing) return;
      failures = (await this.#reportNext()) ? 0 : failures + 1;
      await this.#pause(Math.min(reportIntervalMs * 2 ** failures, maxRetryDelayMs));
    }
  }

  /**
   * Returns whether the report was stored. Otherwise its trials are queued again, unless newer
   * states are queued.
   */
  async #reportNext(): Promise<boolean> {
    const batch = [...this.#pending].slice(0, maxTrialsPerReport);
    const progress = this.#progress;
    for (const [key] of batch) this.#pending.delete(key);
    this.#progress = undefined;
    try {
      await this.#send(batch, progress);
      return true;
    } catch (error) {
      if (error instanceof AppError && refusals.has(error.code)) this.#stop(error);
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
    await this.#client.evaluations.report(this.#id, {
      epoch: this.#epoch,
      trials,
      ...(progress && { progress }),
    });
  }

  async #uploaded({ answer, log }: TrialTexts): Promise<Pick<EvaluationTrial, 'answer' | 'log'>> {
    const put = async (text: string | null) =>
      text === null
        ? null
        : (await this.#client.uploads.blob(new TextEncoder().encode(text), 'text/plain')).blob;
    return { answer: await put(answer), log: await put(log) };
  }

  /** Resolves when there is something to send, or after `ms`. */
  #workOrTimeout(ms: number): Promise<void> {
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

  /**
   * Called after a refusal, for example because another process reports the run or a user deleted
   * it.
   */
  #stop(error: AppError): void {
    this.#pending.clear();
    this.#progress = undefined;
    this.#stopped = true;
    this.#refused(error);
  }
}

/** Error codes after which a retry cannot help. */
const refusals: ReadonlySet<string> = new Set([
  'conflict',
  'not_found',
  'unauthorized',
  'forbidden',
  'invalid_input',
]);

export const boardKey = ({ task, attempt }: Pick<EvaluationTrial, 'task' | 'attempt'>): string =>
  JSON.stringify([task, attempt]);
