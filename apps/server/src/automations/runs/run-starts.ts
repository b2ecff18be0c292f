import { Injectable } from '@nestjs/common';
import { AppError, commandAction, errorFrom } from '@belay/protocol';
import { AuditLog } from '../../access/audit-log.js';
import { EventLog } from '../../logs/event-log.js';
import { SessionCreation } from '../../sessions/session-creation.js';
import { isPassing } from '../out/published-run.js';
import { recordAct } from '../record-act.js';
import { RunCallers } from './run-callers.js';
import { RunRefusal } from '../run-record.js';
import { endOfTold, ownerGone, type StepResult } from './run-step.js';
import { RunTasks } from './run-tasks.js';
import { RunsStore, type StoredRun } from './runs.store.js';

/** Creates the sessions of runs whose lane and money are theirs. The session’s id was stored before. */
@Injectable()
export class RunStarts {
  constructor(
    private readonly runs: RunsStore,
    private readonly log: EventLog,
    private readonly creation: SessionCreation,
    private readonly callers: RunCallers,
    private readonly tasks: RunTasks,
    private readonly audit: AuditLog,
  ) {}

  /** A session that a killed server created already is found by its id, and no second one is made. */
  async step(run: StoredRun): Promise<StepResult> {
    const { session } = run;
    if (session === null) throw new AppError('internal', `The run ${run.id} has no session.`);
    if (!(await this.#exists(session))) {
      // Somebody cancelled it before it began.
      if (run.code !== null) return { end: { ...endOfTold(run), unbegun: true } };
      const caller = this.callers.callerOf(run.automation);
      if (!caller) return { end: { ...ownerGone(run), unbegun: true } };
      try {
        await this.creation.create(await this.tasks.sessionOf(run), caller, session, {
          stays: true,
        });
      } catch (error) {
        if (!(error instanceof RunRefusal)) throw this.#noted(run, error);
        const { state, code, message: why } = error;
        return { end: { state, code, why, unbegun: true } };
      }
    }
    // The one change of the state is the one entry, whichever server created the session.
    const changed = await this.runs.change(run, { state: 'working' });
    if (changed) recordAct(this.audit, run, { action, what: run.automation.name });
    return 'again';
  }

  /** What will be tried again is noted when it is refused for good. */
  #noted(run: StoredRun, error: unknown): unknown {
    const { code: outcome, message: what } = errorFrom(error);
    if (!isPassing(error))
      recordAct(this.audit, { ...run, session: null }, { action, what, outcome });
    return error;
  }

  async #exists(session: string): Promise<boolean> {
    return this.log.summary(session).then(
      () => true,
      (error: unknown) => {
        if (errorFrom(error).code === 'not_found') return false;
        throw error;
      },
    );
  }
}

/** As when a user begins one. */
const action = commandAction('start');
