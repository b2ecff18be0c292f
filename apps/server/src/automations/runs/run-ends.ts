import { Injectable } from '@nestjs/common';
import { Database } from '../../storage/database.js';
import type { DatabaseConnection } from '../../storage/database-schema.js';
import { exclusively } from '../../storage/exclusively.js';
import { Clock } from '../clock.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { SelfPauses } from '../definitions/self-pauses.js';
import { laneAfter } from './lane-after.js';
import type { RunRecord } from '../run-record.js';
import type { RunEnd } from './run-step.js';
import { RunsStore } from './runs.store.js';

/** After so many failures in a row, an automation pauses itself. */
const mostFailures = 5;

/** Ends runs: the result, the lane and the money are one transaction. */
@Injectable()
export class RunEnds {
  constructor(
    private readonly database: Database,
    private readonly runs: RunsStore,
    private readonly pauses: SelfPauses,
    private readonly clock: Clock,
  ) {}

  /** False if the run is not in this state any more. */
  async end(run: RunRecord, end: RunEnd): Promise<boolean> {
    const { state, code, why } = end;
    const ended = this.clock.now().toISOString();
    const done = await exclusively(this.database, 'automation_lane', async (connection) => {
      const change = {
        state,
        code,
        why,
        ended,
        reserved: 0,
        ...(end.spent !== undefined && { spent: end.spent }),
        ...(end.unbegun && { started: null }),
      };
      const changed = await this.runs.change(run, change, connection);
      if (changed) await this.#free(run, end, connection);
      return changed;
    });
    if (done && state === 'failed') await this.pauseAfterFailures(run.automation);
    return done;
  }

  /** Pauses an automation whose last runs all failed; repeated before each run, as a server may be killed between. */
  async pauseAfterFailures(automation: SavedAutomation): Promise<boolean> {
    if (automation.state !== 'on') return false;
    const last = await this.database.kysely
      .selectFrom('automation_run')
      .select(['state', 'why'])
      .where('automation', '=', automation.id)
      .where('state', 'in', ['done', 'failed'])
      // A user who switched it on again has seen the earlier ones.
      .where('created', '>=', automation.updated)
      .orderBy('ended', 'desc')
      .limit(mostFailures)
      .execute();
    if (last.length < mostFailures || last.some(({ state }) => state !== 'failed')) return false;
    const why = `Its last ${mostFailures} runs failed, so it paused itself. The last one: ${last[0]?.why ?? ''} Find out why, then resume it.`;
    await this.pauses.pause(automation, why);
    return true;
  }

  async #free(run: RunRecord, end: RunEnd, connection: DatabaseConnection): Promise<void> {
    const { id, automation } = run;
    const row = await connection
      .selectFrom('automation_lane')
      .selectAll()
      .where('automation', '=', automation.id)
      .where('running', '=', id)
      .executeTakeFirst();
    if (!row) return;
    await connection
      .updateTable('automation_lane')
      .set({ ...laneAfter(row, run, end), running: null })
      .where('automation', '=', automation.id)
      .where('key', '=', row.key)
      .execute();
  }
}
