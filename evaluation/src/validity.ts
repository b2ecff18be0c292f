import type { Verdict } from './model.js';

/** What a preflight found of a task. */
export interface Validity {
  task: string;
  valid: boolean;
  nop: Verdict['outcome'];
  oracle: Verdict['outcome'];
  /** One sentence, when it is not valid. */
  why: string | null;
  /** The tests that the reference solution passes, where the format names them. */
  tests?: string[];
}
