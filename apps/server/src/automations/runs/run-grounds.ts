import { Injectable } from '@nestjs/common';
import { eventFields, matchesFilter, parseFilter } from '@belay/protocol';
import { SelfPauses } from '../definitions/self-pauses.js';
import { RunMaterials } from '../trust/run-materials.js';
import { RunCallers } from './run-callers.js';
import { RunEnds } from './run-ends.js';
import { RunRefusal, type RunDecision, type RunMaterial, type RunRecord } from '../run-record.js';
import { ownerGone } from './run-step.js';
import { valuesOf, type KnownValues } from './run-subject.js';

/** What speaks for a run whatever else is at work: its automation is on, its owner and actor may, its filter fits. */
@Injectable()
export class RunGrounds {
  constructor(
    private readonly pauses: SelfPauses,
    private readonly callers: RunCallers,
    private readonly ends: RunEnds,
    private readonly materials: RunMaterials,
  ) {}

  /** Throws `RunRefusal` with the decisions up to the first that does not hold. Reads, and changes nothing of the run. */
  async of(
    run: RunRecord,
  ): Promise<{ material: RunMaterial; values: KnownValues; decisions: RunDecision[] }> {
    const decisions = [await this.#isOn(run), await this.#hasOwner(run)];
    const { material, decisions: trusted } = await this.#materials(run, decisions);
    decisions.push(...trusted);
    // Of what was sent to a URL, the fields are as they came.
    const values = {
      ...valuesOf(run.occurrence),
      ...(run.occurrence.event !== 'url' && material.fields),
    };
    decisions.push(fitsFilter(run, values, decisions));
    return { material, values, decisions };
  }

  async #isOn({ automation }: RunRecord): Promise<RunDecision> {
    const { name, state, why } = automation;
    const pausedItself = await this.ends.pauseAfterFailures(automation);
    if (state === 'on' && !pausedItself)
      return { check: 'paused', holds: true, why: `${name} is on.` };
    throw refused('paused', `${name} is ${pausedItself ? 'broken' : state}. ${why ?? ''}`.trim());
  }

  /** An automation acts with its owner’s rights; without an owner it has none. */
  async #hasOwner(run: RunRecord): Promise<RunDecision> {
    const { automation } = run;
    if (this.callers.callerOf(automation))
      return { check: 'owner', holds: true, why: 'Its owner may begin sessions.' };
    const { code, why } = ownerGone(run);
    await this.pauses.pause(automation, why);
    throw new RunRefusal('refused', code, why, [{ check: code, holds: false, why }]);
  }

  async #materials(
    run: RunRecord,
    before: readonly RunDecision[],
  ): Promise<{ material: RunMaterial; decisions: RunDecision[] }> {
    try {
      return await this.materials.of(run);
    } catch (error) {
      if (!(error instanceof RunRefusal)) throw error;
      const { state, code, message, decisions } = error;
      const last = { check: code, holds: false, why: message };
      const found = decisions.at(-1)?.holds === false ? decisions : [...decisions, last];
      throw new RunRefusal(state, code, message, [...before, ...found]);
    }
  }
}

/** A user who begins a run by hand has chosen it. */
function fitsFilter(
  { definition: { on }, occurrence: { event } }: RunRecord,
  values: KnownValues,
  before: readonly RunDecision[],
): RunDecision {
  const where = 'where' in on ? on.where : undefined;
  if (where === undefined || event === 'hand')
    return { check: 'filter', holds: true, why: 'It has no filter.' };
  if (matchesFilter(parseFilter(where, eventFields[event]), values))
    return { check: 'filter', holds: true, why: `It fits “${where}”.` };
  throw refused('filter', `It does not fit “${where}”.`, before);
}

const refused = (check: string, why: string, before: readonly RunDecision[] = []): RunRefusal =>
  new RunRefusal('skipped', check, why, [...before, { check, holds: false, why }]);
