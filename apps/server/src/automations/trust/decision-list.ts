import { RunRefusal, type RunDecision } from '../run-record.js';

/** The decisions about a run in their order. The first that does not hold ends it. */
export class DecisionList {
  readonly all: RunDecision[] = [];

  holds(check: string, why: string): void {
    this.all.push({ check, holds: true, why });
  }

  /** The refusal to throw; `why` is one sentence for people. */
  refusal(state: 'skipped' | 'refused', check: string, why: string): RunRefusal {
    this.all.push({ check, holds: false, why });
    return new RunRefusal(state, check, why, [...this.all]);
  }
}
