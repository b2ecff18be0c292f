export {
  compareRuns,
  preflightRun,
  regradeRun,
  rebuildReport,
  resumeRun,
  startRun,
} from './evaluation.js';
export {
  allPlaces,
  thisMachine,
  thisServer,
  type OpenPlaces,
  type TrialPlace,
} from './trial-places.js';
export type { EvaluationOptions } from './evaluation.js';
export type { NewRun } from './new-run.js';
export type { RunComparison } from './compare.js';
export type { FromMap } from './engine/images.js';
export type { Cause, Trial, Verdict } from './model.js';
export type { Validity } from './validity.js';
export type { Summary } from './results/summary.js';
export { describeData } from './suites/describe-data.js';
export { suites } from './suites/index.js';
