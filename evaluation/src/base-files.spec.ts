import { join } from 'node:path';
import { command, oracle } from './agents/baselines.js';
import { sweBenchData } from './testing/fixtures.js';
import { TrialBench } from './testing/trial-bench.js';

const bench = new TrialBench();

it('agents can change and add files in all folders of a repository that comes as files', async () => {
  const data = sweBenchData(join(bench.folder, 'repository'), 'lib/core/main.js');
  const fix = "sed -i 's/n + n + 1/n + n/' lib/core/main.js";
  const agents = [oracle, command(`${fix} && touch lib/core/new.js`), command(':')];
  const trials = await bench.trials('swe-bench', data, { agents });
  expect(trials.map(({ verdict }) => verdict)).toMatchObject([
    { outcome: 'pass' },
    { outcome: 'pass' },
    { outcome: 'fail', cause: 'empty_patch' },
  ]);
});
