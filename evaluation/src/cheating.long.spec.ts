import { join } from 'node:path';
import { nop, oracle } from './agents/baselines.js';
import { cheatedSuites, leftovers } from './testing/cheats.js';
import { describeCheating } from './testing/describe-cheating.js';
import { TrialBench } from './testing/trial-bench.js';

const bench = new TrialBench();
for (const suite of cheatedSuites) {
  if (suite.suite !== 'mbpp') describeCheating(bench, suite, leftovers);
  // Its answers are judged by the same program as those of human-eval, so a sample shows that they are.
  else {
    const [first, second] = Object.entries(suite.cheats);
    const cheats = Object.fromEntries([first, second].filter((entry) => entry !== undefined));
    describeCheating(bench, { ...suite, cheats }, leftovers.slice(1, 2));
  }
}

describe.each(cheatedSuites)('$suite', ({ suite, make }) => {
  const data = make(join(bench.folder, `${suite}-baselines`));

  it.each([
    ['passes', 'the reference solution', oracle, { outcome: 'pass', reward: 1 }],
    ['does not pass', 'nothing', nop, { outcome: 'fail', reward: 0 }],
  ])('%s %s', async (_result, _name, agent, expected) => {
    const [trial] = await bench.trials(suite, data, { agents: [agent] });
    expect(trial?.verdict).toMatchObject(expected);
  });
});
