import { Injectable } from '@nestjs/common';
import { endedRunStates, type AutomationRun, type RunExplanation } from '@belay/protocol';
import { Outgoing } from '../out/outgoing.js';
import { inDollars } from './money.js';
import type { RunRecord } from '../run-record.js';
import { RunsStore } from './runs.store.js';

/** Runs as users see them. */
@Injectable()
export class RunViews {
  constructor(
    private readonly runs: RunsStore,
    private readonly outgoing: Outgoing,
  ) {}

  /** Everything that was found, decided and sent. What was sent to a URL is for the agent alone. */
  async explain(id: string): Promise<RunExplanation> {
    const run = await this.runs.require(id);
    const { payload: _, ...occurrence } = run.occurrence;
    const { findings, decisions } = run;
    const outgoing = await this.outgoing.list(id);
    return { run: runViewOf(run), occurrence, findings, decisions, outgoing };
  }
}

export function runViewOf(run: RunRecord): AutomationRun {
  const { id, version, lane, subject, state, code, why, session, created, started, ended } = run;
  return {
    id,
    version,
    lane,
    subject,
    state,
    code,
    why,
    session,
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
