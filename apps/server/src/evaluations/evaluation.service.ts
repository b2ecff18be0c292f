import { Injectable } from '@nestjs/common';
import {
  AppError,
  type EvaluationChanges,
  type EvaluationInfo,
  type EvaluationSummary,
  type EvaluationTrial,
} from '@belay/protocol';
import type { DatabaseConnection } from '../storage/database-schema.js';
import { EvaluationStore, type EvaluationRecord } from './evaluation.store.js';

export type EvaluationListener = (id: string, summary: EvaluationSummary | null) => void;

/**
 * The board of benchmark runs. Other processes execute the runs and own the results; the board has only their reports.
 * It keeps the newest state of each trial, with the number of its report.
 */
@Injectable()
export class EvaluationService {
  readonly #listeners = new Set<EvaluationListener>();

  constructor(private readonly store: EvaluationStore) {}

  list(): Promise<EvaluationSummary[]> {
    return this.store.list();
  }

  async get(id: string): Promise<{ summary: EvaluationSummary; tasks: string[] }> {
    const { summary, tasks } = await this.#record(id);
    return { summary, tasks };
  }

  /** The trials that changed after report `after`, and the number of the latest report. */
  async trials(id: string, after: number): Promise<{ seq: number; trials: EvaluationTrial[] }> {
    await this.#record(id);
    const found = await this.store.trials(id, after);
    return { seq: found.at(-1)?.seq ?? after, trials: found.map(({ trial }) => trial) };
  }

  /** Shows a run whose process is about to start, and has not reported yet. */
  async expect(id: string, info: ExpectedRun): Promise<EvaluationSummary> {
    const summary: EvaluationSummary = {
      ...fresh,
      ...info,
      ...starting,
      phase: 'starting',
      id,
      reported: now(),
    };
    await this.store.transaction((connection) =>
      this.store.put(connection, { epoch: 0, tasks: [], summary }),
    );
    this.#notify(id, summary);
    return summary;
  }

  /** A process starts to report a run; from now on, reports of earlier processes are refused. */
  async open(
    id: string,
    { tasks, ...info }: EvaluationInfo,
  ): Promise<{ epoch: number; trials: EvaluationTrial[] }> {
    const record = await this.store.transaction(async (connection) => {
      const known = await this.store.find(id, connection);
      const summary: EvaluationSummary = {
        ...(known?.summary ?? fresh),
        ...info,
        ...starting,
        id,
        tasks: tasks.length,
        reported: now(),
      };
      const opened = { epoch: (known?.epoch ?? 0) + 1, tasks, summary };
      await this.store.put(connection, opened);
      return opened;
    });
    this.#notify(id, record.summary);
    const { trials } = await this.trials(id, 0);
    return { epoch: record.epoch, trials };
  }

  /** Throws `conflict` when another process has opened the run since. */
  async report(id: string, changes: EvaluationChanges): Promise<void> {
    const { summary } = await this.store.transaction(async (connection) => {
      const record = await this.#record(id, connection);
      if (record.epoch !== changes.epoch)
        throw new AppError('conflict', 'Another process reports this run now.');
      const changed = { ...record, summary: reported(record.summary, changes) };
      if (changes.trials.length > 0) {
        await this.store.putTrials(connection, changed.summary, changes.trials);
        Object.assign(changed.summary, await this.store.totals(connection, id));
      }
      await this.store.put(connection, changed);
      return changed;
    });
    this.#notify(id, summary);
  }

  /**
   * The process of a run that this server started has ended: its own report of that has priority, except for the
   * reason of an interruption, which it does not know. Changes nothing if another process has resumed the run.
   */
  async end(id: string, end: Pick<EvaluationSummary, 'state' | 'reason'>): Promise<void> {
    const changed = await this.store.transaction(async (connection) => {
      const record = await this.store.find(id, connection);
      if (!record || record.epoch > ownEpoch) return undefined;
      const { state } = record.summary;
      if (state !== 'running' && !(state === 'interrupted' && end.state === state))
        return undefined;
      const summary = { ...record.summary, ...end, reported: now() };
      await this.store.put(connection, { ...record, summary });
      return summary;
    });
    if (changed) this.#notify(id, changed);
  }

  /** Ends the runs that an earlier process of this server started and did not see the end of. */
  async endStarted(reason: string): Promise<void> {
    for (const { id, state, start } of await this.list())
      if (start && state === 'running') await this.end(id, { state: 'interrupted', reason });
  }

  /** Removes a run from the board; its folder and the sessions of its trials stay. */
  async remove(id: string): Promise<void> {
    if (!(await this.store.remove(id))) throw unknownRun(id);
    this.#notify(id, null);
  }

  /** The listener is called after each commit. Returns a function that unsubscribes. */
  subscribe(listener: EvaluationListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #record(id: string, connection?: DatabaseConnection): Promise<EvaluationRecord> {
    const found = await this.store.find(id, connection);
    if (found) return found;
    throw unknownRun(id);
  }

  #notify(id: string, summary: EvaluationSummary | null): void {
    for (const listener of this.#listeners) listener(id, summary);
  }
}

/** What is known of a run before it has read its data. */
type ExpectedRun = Omit<EvaluationInfo, 'tasks'> & Pick<EvaluationSummary, 'tasks' | 'start'>;

/** The process that this server starts for a run is the first to report it. */
const ownEpoch = 1;

/** The fields of a run that each reporting process sets at its start. */
const starting = {
  state: 'running',
  phase: 'preflight',
  checks: null,
  reason: null,
  begun: null,
} as const;

const fresh = {
  score: null,
  validity: null,
  seq: 0,
  doneBefore: 0,
  done: 0,
  outcomes: { pass: 0, fail: 0, invalid: 0 },
  tokens: 0,
  dollars: 0,
};

function reported(
  before: EvaluationSummary,
  { trials, progress }: EvaluationChanges,
): EvaluationSummary {
  const begins = progress?.phase === 'trials' && before.begun === null;
  return {
    ...before,
    ...progress,
    ...(begins && { begun: now(), doneBefore: before.done }),
    reported: now(),
    seq: before.seq + (trials.length > 0 ? 1 : 0),
  };
}

const now = (): string => new Date().toISOString();

const unknownRun = (id: string): AppError =>
  new AppError('not_found', `There is no benchmark run ${id} on this board.`);
