import { Injectable } from '@nestjs/common';
import { commandAction, errorFrom, isEnded, spanMs, type SessionSummary } from '@belay/protocol';
import { AuditLog } from '../../access/audit-log.js';
import { EventLog } from '../../logs/event-log.js';
import { isUnchecked } from '../../sessions/session-checks.js';
import { Clock } from '../clock.js';
import { recordAct } from '../record-act.js';
import { microdollars } from './money.js';
import { RunBeginnings } from './run-beginnings.js';
import { endOfTold, type StepResult } from './run-step.js';
import { RunStops } from './run-stops.js';
import { RunsStore, type StoredRun } from './runs.store.js';

/** Follows the sessions of runs until they, and their checks, have ended. */
@Injectable()
export class RunWork {
  constructor(
    private readonly runs: RunsStore,
    private readonly log: EventLog,
    private readonly stops: RunStops,
    private readonly beginnings: RunBeginnings,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
  ) {}

  async step(run: StoredRun): Promise<StepResult> {
    const session = run.session ?? '';
    const summary = await this.#summary(session);
    if (!summary) return { end: removed };
    if (!isEnded(summary.state)) return this.#follow(run, summary);
    const spent = microdollars(summary.dollars);
    if (run.code !== null) {
      const end = endOfTold(run);
      if (summary.state === 'stopped')
        recordAct(this.audit, run, { action: commandAction('stop'), what: end.why });
      return { end: { ...end, spent } };
    }
    if (summary.state === 'stopped') return { end: { ...stopped, spent } };
    if (isUnchecked(summary)) return { at: null };
    await this.runs.change(run, { state: 'proving', spent, reserved: 0 });
    return 'again';
  }

  forget(run: string): void {
    this.beginnings.forget(run);
  }

  async #follow(run: StoredRun, summary: SessionSummary): Promise<StepResult> {
    if (run.code !== null) {
      await this.stops.stop(summary.id);
      // Its end follows in the log.
      return { at: null };
    }
    await this.beginnings.tell(run);
    const { waits } = run.definition.run;
    if (!waitsForUser(summary)) return { at: null };
    const until = new Date(Date.parse(summary.updated) + spanMs(waits));
    if (until > this.clock.now()) return { at: until };
    const why = `It waited for a user for ${waits}, as long as it may.`;
    await this.stops.tell(run, { code: 'waits', why });
    return 'again';
  }

  async #summary(session: string): Promise<SessionSummary | undefined> {
    return this.log.summary(session).catch((error: unknown) => {
      if (errorFrom(error).code === 'not_found') return undefined;
      throw error;
    });
  }
}

/** Whether nothing goes on before a user does something. */
export const waitsForUser = ({ state, attention, modelError }: SessionSummary): boolean =>
  state === 'waiting' ||
  state === 'paused' ||
  attention !== null ||
  (modelError !== null && modelError.retryAt === null);

const removed = {
  state: 'failed',
  code: 'session-removed',
  why: 'Its session was deleted.',
} as const;

const stopped = { state: 'cancelled', code: 'stopped', why: 'Its session was stopped.' } as const;
