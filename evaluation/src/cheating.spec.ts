import { cheatedSuites, leftovers } from './testing/cheats.js';
import { describeCheating } from './testing/describe-cheating.js';
import { TrialBench } from './testing/trial-bench.js';

/**
 * A sample of cheating.long.spec.ts: one cheat and one leftover in two suites, different ones as far as possible.
 * instance-check.attacks.spec.ts has SWE-bench’s tests; services.spec.ts and runs.spec.ts have the reference and `nop`.
 */
const suites = ['human-eval', 'harbor'];
const bench = new TrialBench();
const tried = new Set<string>();
for (const [at, suite] of cheatedSuites.filter(({ suite }) => suites.includes(suite)).entries()) {
  const entries = Object.entries(suite.cheats);
  const cheats = [entries.find(([name]) => !tried.has(name)) ?? entries[0]].filter(
    (entry) => entry !== undefined,
  );
  for (const [name] of cheats) tried.add(name);
  describeCheating(bench, { ...suite, cheats: Object.fromEntries(cheats) }, [
    leftovers[at % leftovers.length] ?? ['nothing', ''],
  ]);
}
