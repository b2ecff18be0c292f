import type { Verdict } from './model.js';

/** The result of a task’s preflight. */
export interface Validity {
  task: string;
  valid: boolean;
  nop: Verdict['outcome'];
  oracle: Verdict['outcome'];
  /** The reason in one sentence, if the task is not valid. */
  why: string | null;
  /** The tests that the reference solution passes, where the format names them. */
  tests?: string[];
}
