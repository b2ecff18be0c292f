import { Injectable } from '@nestjs/common';
import { endedRunStates, type AutomationRun, type RunExplanation } from '@belay/protocol';
import { Database } from '../../storage/database.js';
import { Outgoing } from '../out/outgoing.js';
import { inDollars } from './money.js';
import type { RunRecord } from '../run-record.js';
import { RunsStore } from './runs.store.js';

/** Runs as users see them: with a session only if it exists, as its id is stored before it is created. */
@Injectable()
export class RunViews {
  constructor(
    private readonly runs: RunsStore,
    private readonly outgoing: Outgoing,
    private readonly database: Database,
  ) {}

  /** Everything that was found, decided and sent. What was sent to a URL is for the agent alone. */
  async explain(id: string): Promise<RunExplanation> {
    const run = await this.runs.require(id);
    const { payload: _, ...occurrence } = run.occurrence;
    const { findings, decisions } = run;
    const outgoing = await this.outgoing.list(id);
    const view = runViewOf(run, await this.#existing([run]));
    return { run: view, occurrence, findings, decisions, outgoing };
  }

  /** In the same order. */
  async of(runs: readonly RunRecord[]): Promise<AutomationRun[]> {
    const existing = await this.#existing(runs);
    return runs.map((run) => runViewOf(run, existing));
  }

  async #existing(runs: readonly RunRecord[]): Promise<ReadonlySet<string>> {
    const named = runs.flatMap(({ session }) => session ?? []);
    if (named.length === 0) return new Set();
    const query = this.database.kysely.selectFrom('session').select('id');
    const rows = await query.where('id', 'in', named).execute();
    return new Set(rows.map(({ id }) => id));
  }
}

function runViewOf(run: RunRecord, existing: ReadonlySet<string>): AutomationRun {
  const { id, version, lane, subject, state, code, why, session, created, started, ended } = run;
  return {
    id,
    version,
    lane,
    subject,
    state,
    code,
    why,
    session: session !== null && existing.has(session) ? session : null,
    created,
    started,
    ended,
    automation: run.automation.name,
    event: run.occurrence.event,
    key: run.eventKey,
    dollars: inDollars(run.spent),
    check: checkOf(run),
    pullRequest: run.result?.pullRequest ?? null,
  };
}

function checkOf({ definition, state, result }: RunRecord): AutomationRun['check'] {
  const command = definition.run.check;
  if (command === undefined) return null;
  const exitCode = result?.checkExit ?? null;
  const missing = endedRunStates.includes(state) ? 'failed' : 'waiting';
  const isEnded = exitCode !== null;
  return {
    command,
    exitCode,
    state: isEnded ? 'ended' : missing,
    seconds: null,
    reason: null,
    seq: null,
  };
}
