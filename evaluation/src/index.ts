export {
  compareRuns,
  preflightRun,
  regradeRun,
  reportRun,
  resumeRun,
  startRun,
} from './evaluation.js';
export type { NewRun, RunOptions } from './evaluation.js';
export type { Comparison } from './compare.js';
export type { FromMap } from './engine/images.js';
export type { Cause, Trial, Verdict } from './model.js';
export type { Validity } from './validity.js';
export type { Summary } from './results/summary.js';
export { suites } from './suites/index.js';
