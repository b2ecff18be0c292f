import { Injectable } from '@nestjs/common';
import { AppError, type AutomationRun, type PageQuery, type RunExplanation } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { Lanes, type LaneState } from './lanes.js';
import { RunLoop } from './run-loop.js';
import { RunRequests, type RunWish } from './run-requests.js';
import { RunStops } from './run-stops.js';
import { RunViews } from './run-views.js';
import { RunsStore, type StoredRun } from './runs.store.js';

/** The runs of automations, for users: whoever calls this has checked what the caller may. */
@Injectable()
export class AutomationRuns {
  constructor(
    private readonly runs: RunsStore,
    private readonly loop: RunLoop,
    private readonly lanes: Lanes,
    private readonly stops: RunStops,
    private readonly requests: RunRequests,
    private readonly views: RunViews,
  ) {}

  /** Begins a run, and returns what was decided about it. With `dry`, nothing is begun. */
  async beginByHand(
    automation: SavedAutomation,
    wish: RunWish,
    caller: Caller,
  ): Promise<RunExplanation> {
    const run = await this.requests.make(automation, wish, caller);
    await this.loop.decided(run);
    return this.explain(run);
  }

  /**
   * Ends a run that waits, and stops the session of one at work. Throws `conflict` for one that has ended, or that is
   * being published: what is sent stays sent.
   */
  async cancel(id: string, caller: Caller): Promise<RunExplanation> {
    const told = { code: 'cancelled', why: `It was cancelled by ${caller.label}.` };
    // Its state may change meanwhile; it has few.
    for (;;) {
      const run = await this.runs.require(id);
      if (await this.#cancel(run, told)) break;
    }
    this.loop.wake();
    return this.explain(id);
  }

  explain(run: string): Promise<RunExplanation> {
    return this.views.explain(run);
  }

  /** The newest first. */
  async history({ id }: SavedAutomation, page: PageQuery = {}): Promise<AutomationRun[]> {
    return this.views.of(await this.runs.ofAutomation(id, page));
  }

  lanesOf({ id }: SavedAutomation): Promise<LaneState[]> {
    return this.lanes.list(id);
  }

  /** Lets a stuck lane go on, with new attempts. Throws `not_found` for a lane with nothing to reset. */
  async resetLane({ id, name }: SavedAutomation, key: string): Promise<void> {
    const lanes = await this.lanes.list(id);
    if (!lanes.some((lane) => lane.key === key))
      throw new AppError(
        'not_found',
        `${name} has no lane ${key.slice(0, 100)} that is stuck or has attempts. List them: belay automations lanes ${name}`,
      );
    await this.lanes.reset(id, key);
    this.loop.wake();
  }

  async #cancel(run: StoredRun, told: { code: string; why: string }): Promise<boolean> {
    switch (run.state) {
      case 'pending':
      case 'queued':
        return this.runs.end(run, { ...told, state: 'cancelled' });
      case 'starting':
      case 'working':
      case 'proving':
        return this.stops.tell(run, told);
      default:
        throw new AppError(
          'conflict',
          run.state === 'publishing'
            ? `The run ${run.id} is being published: what is sent stays sent.`
            : `The run ${run.id} has ended.`,
        );
    }
  }
}
