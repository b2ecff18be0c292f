import { Injectable } from '@nestjs/common';
import { errorFrom, type RunReport, type SessionSummary } from '@belay/protocol';
import { EventLog } from '../../logs/event-log.js';
import { Outgoing } from '../out/outgoing.js';
import { RunPublisher } from '../out/run-publisher.js';
import { isPassing } from '../out/published-run.js';
import { RunMaterials } from '../trust/run-materials.js';
import { RunChanges } from './run-changes.js';
import { sessionFailureOf, isWithoutChange, outcomeOfRun, type Outcome } from './run-outcome.js';
import { RunRefusal, type PublishedResult } from '../run-record.js';
import { endOfTold, lostRights, type StepResult } from './run-step.js';
import { RunsStore, type StoredRun } from './runs.store.js';

/** Publishes what came of a session, with its proof, if its check passed; and stores what came of the run. */
@Injectable()
export class RunResults {
  constructor(
    private readonly runs: RunsStore,
    private readonly log: EventLog,
    private readonly materials: RunMaterials,
    private readonly publisher: RunPublisher,
    private readonly changes: RunChanges,
    private readonly outgoing: Outgoing,
  ) {}

  async step(run: StoredRun, report: RunReport | null): Promise<StepResult> {
    if (run.code !== null) return { end: endOfTold(run) };
    const summary = await this.log.summary(run.session ?? '');
    const none = { ...noResult, checkExit: summary.check?.exitCode ?? null };
    const failure = sessionFailureOf(summary);
    if (failure) return this.#store(run, none, failure);
    if (!(await this.materials.actorStillMay(run))) return { end: lostRights };
    try {
      const { result, outcome } = await this.#result(run, summary, report);
      return await this.#store(run, { ...result, checkExit: none.checkExit }, outcome);
    } catch (error) {
      if (error instanceof RunRefusal) return this.#refuse(run, { report, refusal: error });
      if (isPassing(error)) throw error;
      const why = `It was not published. ${errorFrom(error).message}`;
      return this.#store(run, none, { code: 'publish', why });
    }
  }

  async #store(
    run: StoredRun,
    result: PublishedResult,
    { code, why }: Outcome,
  ): Promise<StepResult> {
    await this.runs.change(run, { state: 'publishing', result, code, why });
    return 'again';
  }

  async #result(
    run: StoredRun,
    { id, cloned }: SessionSummary,
    report: RunReport | null,
  ): Promise<{ result: PublishedResult; outcome: Outcome }> {
    const { out } = run.definition;
    if (cloned && (out.pullRequest !== undefined || out.push !== undefined)) {
      const { outcome, why, ...result } = await this.publisher.publish(run, report);
      const isStuck = outcome === 'nothing' && isWithoutChange(run.definition, result);
      return { result, outcome: { code: isStuck ? 'stuck' : outcome, why } };
    }
    const result = { ...noResult, changedFiles: await this.changes.filesOf(id) };
    return { result, outcome: outcomeOfRun(run.definition, result) };
  }

  /** Nothing was published; the progress comment says why, if there is one. */
  async #refuse(
    run: StoredRun,
    { report, refusal }: { report: RunReport | null; refusal: RunRefusal },
  ): Promise<StepResult> {
    const { state, code, message: why } = refusal;
    await this.outgoing.planEnd({ ...run, state, code, why }, report);
    await this.outgoing.deliver(run);
    return { end: { state, code, why } };
  }
}

const noResult: PublishedResult = {
  tree: null,
  changedFiles: 0,
  checkExit: null,
  verdict: null,
  commit: null,
  pullRequest: null,
};
