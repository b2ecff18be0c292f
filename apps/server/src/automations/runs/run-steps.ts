import { Injectable } from '@nestjs/common';
import type { RunReport } from '@belay/protocol';
import { RunReports } from '../out/run-reports.js';
import { RunDecisions } from './run-decisions.js';
import { RunDeliveries } from './run-deliveries.js';
import { RunResults } from './run-results.js';
import { RunStarts } from './run-starts.js';
import type { StepResult } from './run-step.js';
import { RunWork } from './run-work.js';
import type { StoredRun } from './runs.store.js';

/**
 * The next step of a run, chosen by its row alone: each may be repeated after a crash, and each stores what follows
 * before it does it.
 */
@Injectable()
export class RunSteps {
  constructor(
    private readonly decisions: RunDecisions,
    private readonly starts: RunStarts,
    private readonly work: RunWork,
    private readonly results: RunResults,
    private readonly deliveries: RunDeliveries,
    private readonly reports: RunReports,
  ) {}

  async next(run: StoredRun): Promise<StepResult> {
    switch (run.state) {
      case 'pending':
        return this.decisions.decide(run);
      case 'queued':
        return this.decisions.begin(run);
      case 'starting':
        return this.starts.step(run);
      case 'working':
        return this.work.step(run);
      case 'proving':
        return this.results.step(run, await this.#reportOf(run));
      case 'publishing':
        return this.deliveries.step(run, await this.#reportOf(run));
      default:
        return { at: null };
    }
  }

  /** A run has ended: what was remembered of it is not needed any more. */
  forget(run: string): void {
    this.deliveries.forget(run);
    this.work.forget(run);
  }

  async #reportOf({ session }: StoredRun): Promise<RunReport | null> {
    return session === null ? null : this.reports.reportOf(session);
  }
}
