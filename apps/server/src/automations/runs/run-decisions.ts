import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import type { LaneAdmission } from './admission.js';
import { Lanes } from './lanes.js';
import { RunGrounds } from './run-grounds.js';
import { RunRefusal } from '../run-record.js';
import type { StepResult } from './run-step.js';
import { laneOf } from './run-subject.js';
import { RunsStore, type StoredRun } from './runs.store.js';

/** The beginning of the event key of a run that a user only wants to see decided. */
export const dryKey = 'dry:';

/** Decides about runs: whether they wait for their turn, and when they have it. */
@Injectable()
export class RunDecisions {
  constructor(
    private readonly runs: RunsStore,
    private readonly grounds: RunGrounds,
    private readonly lanes: Lanes,
    private readonly clock: Clock,
  ) {}

  /** Everything is looked up again if a server is killed before it has decided. */
  async decide(run: StoredRun): Promise<StepResult> {
    if (run.due > this.clock.now().toISOString()) return { at: new Date(run.due) };
    try {
      const { material, values, decisions: found } = await this.grounds.of(run);
      const decisions = [...run.decisions, ...found];
      const { findings } = material;
      const lane = laneOf(run.definition, run.occurrence, values);
      const known = { findings, lane, decisions };
      if (run.definition.dry || run.eventKey.startsWith(dryKey)) {
        const admission = await this.lanes.look({ ...run, lane });
        const all = [...decisions, ...admission.decisions];
        await this.runs.end(run, { ...known, decisions: all, ...dry, why: dryWords(admission) });
      } else {
        await this.lanes.queue(run, known);
      }
    } catch (error) {
      if (!(error instanceof RunRefusal)) throw error;
      const { state, code, message: why } = error;
      const decisions = [...run.decisions, ...error.decisions];
      await this.runs.end(run, { state, code, why, decisions });
    }
    return 'again';
  }

  async begin(run: StoredRun): Promise<StepResult> {
    const { name, state } = run.automation;
    if (state !== 'on') {
      await this.runs.end(run, { state: 'skipped', code: 'paused', why: `${name} is ${state}.` });
      return 'again';
    }
    if (run.due > this.clock.now().toISOString()) return { at: new Date(run.due) };
    const { changed, until } = await this.lanes.begin(run);
    return changed ? 'again' : { at: until };
  }
}

const dry = { state: 'skipped', code: 'dry' } as const;

function dryWords({ verdict }: LaneAdmission): string {
  if (verdict.kind === 'begin')
    return 'A dry run: nothing was begun. Otherwise it would begin now.';
  const would = verdict.kind === 'skip' ? 'be skipped' : 'wait';
  return `A dry run: nothing was begun. Otherwise it would ${would}. ${verdict.why}`;
}
