import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { BelayClient } from '@belay/client';
import {
  AppError,
  evaluationPath,
  type EvaluationProgress,
  type EvaluationTrial,
  type TrialState,
} from '@belay/protocol';
import { contentHash } from '../entries.js';
import type { Trial } from '../model.js';
import type { TrialRef } from '../run.js';
import type { Validity } from '../validity.js';
import { countedTrials, readValidity } from '../results/report.js';
import { loadRun, type RunFile } from '../results/run-file.js';
import { summarizeRun } from '../results/summary.js';
import { trialTexts } from './trial-texts.js';
import { boardKey, Reporter } from './reporter.js';

export interface BoardOptions {
  /** The results folder, the only source of what is reported. */
  out: string;
  connect(): { client: BelayClient; url: string };
  /** Called rarely, with a sentence for the user. */
  onNotice?(sentence: string): void;
}

/**
 * Reports a run to the dashboard's board. A results folder is one run on the board, even after a
 * resume; `open` sends what the board is missing.
 */
export class Board {
  readonly #trials = new Map<string, Trial>();
  /** The last state sent for each trial, without its record. */
  readonly #sent = new Map<string, string>();
  #validity: Validity[] | null = null;
  #phase: EvaluationProgress['phase'] = 'preflight';
  #checks: EvaluationProgress['checks'] = null;

  readonly url: string;
  readonly #out: string;
  readonly #run: RunFile;
  readonly #reporter: Reporter;

  /** Called only by `open`. */
  constructor(opened: { out: string; run: RunFile; reporter: Reporter; url: string }) {
    this.url = opened.url;
    this.#out = opened.out;
    this.#run = opened.run;
    this.#reporter = opened.reporter;
  }

  /**
   * Resolves to undefined, with a notice, if there is no server, because a run does not need one.
   */
  static async open({ out, connect, onNotice }: BoardOptions): Promise<Board | undefined> {
    const run = loadRun(out);
    const { suite, agent, model, tasks, attempts, created } = run;
    const folder = resolve(out);
    const info = { suite, agent, model, tasks, attempts, created, folder, host: hostname() };
    const id = run.boardId ?? contentHash(run).slice(0, 16);
    const refused = ({ message }: AppError) =>
      onNotice?.(`The board no longer accepts reports: ${message}`);
    try {
      const { client, url } = connect();
      const { reporter, known } = await Reporter.open(client, { id, info, refused });
      const board = new Board({ out, run, reporter, url: `${url}${evaluationPath(id)}` });
      for (const trial of known) board.#sent.set(boardKey(trial), coreOf(trial));
      board.refresh();
      board.#requeue(known);
      return board;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      onNotice?.(`There is no live board: ${error.message}`);
      return undefined;
    }
  }

  /** Reports progress of the preflight. */
  checked(checks: { done: number; all: number }): void {
    this.#checks = checks;
    this.#reporter.setProgress(this.#progress('running'));
  }

  /** Called when the preflight has ended and trials begin. */
  begin(): void {
    this.#phase = 'trials';
    this.#checks = null;
    this.refresh();
  }

  at({ task, attempt, session, place }: TrialRef, state: TrialState) {
    this.#put({ ...unjudged, task, attempt, session, place: place ?? null, state });
  }

  judged(trial: Trial): void {
    this.#trials.set(boardKey(trial), trial);
    const report = reportOf(trial);
    if (this.#sent.get(boardKey(report)) !== coreOf(report)) this.#put(report, true);
  }

  /** Reports the differences between the results folder and the board. */
  refresh(): void {
    this.#validity = readValidity(this.#out);
    for (const trial of countedTrials(this.#out).trials) this.judged(trial);
    this.#reporter.setProgress(this.#progress('running'));
  }

  /** Reports the end; returns whether the board has everything. */
  async close(state: EvaluationProgress['state'], reason: string | null): Promise<boolean> {
    this.refresh();
    this.#reporter.setProgress(this.#progress(state, reason));
    return this.#reporter.close();
  }

  #put(trial: EvaluationTrial, isJudged = false): void {
    this.#sent.set(boardKey(trial), coreOf(trial));
    const record = isJudged ? () => trialTexts(this.#out, trial) : undefined;
    this.#reporter.put({ trial, ...(record && { record }) }, this.#progress('running'));
  }

  /** Trials that a killed process left running are queued again. */
  #requeue(known: EvaluationTrial[]): void {
    for (const trial of known)
      if (!['queued', 'done'].includes(trial.state) && !this.#trials.has(boardKey(trial)))
        this.at({ ...trial, session: null, place: undefined }, 'queued');
  }

  #progress(state: EvaluationProgress['state'], reason: string | null = null): EvaluationProgress {
    const trials = [...this.#trials.values()];
    const { score, interval, validScore, validity } = summarizeRun(this.#run, trials, {
      validity: this.#validity,
    });
    return {
      state,
      reason,
      phase: this.#phase,
      checks: state === 'running' ? this.#checks : null,
      validity,
      score: trials.length === 0 ? null : { value: score, interval, valid: validScore },
    };
  }
}

const unjudged = {
  verdict: null,
  seconds: { build: 0, agent: 0, verify: 0 },
  tokens: 0,
  dollars: 0,
  answer: null,
  log: null,
};

const mostDetail = 4_000;

function reportOf({ task, attempt, session, place, verdict, ...spent }: Trial) {
  const { seconds, tokens, dollars } = spent;
  const { outcome, cause, reward, detail } = verdict;
  const said = { outcome, cause, reward, detail: detail.slice(0, mostDetail) };
  const work = { task, attempt, session, place: place ?? null, seconds, tokens, dollars };
  return { ...unjudged, ...work, state: 'done', verdict: said } satisfies EvaluationTrial;
}

const coreOf = ({ task, attempt, state, verdict, ...trial }: EvaluationTrial) =>
  JSON.stringify([
    task,
    attempt,
    state,
    trial.session,
    trial.place,
    verdict,
    trial.seconds,
    trial.dollars,
  ]);
