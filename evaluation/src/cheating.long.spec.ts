import { cheatedSuites, leftovers } from './testing/cheats.js';
import { describeCheating } from './testing/describe-cheating.js';
import { TrialBench } from './testing/trial-bench.js';

const bench = new TrialBench();
for (const suite of cheatedSuites) describeCheating(bench, suite, leftovers);
