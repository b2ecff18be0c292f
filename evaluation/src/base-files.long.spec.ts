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

it('a folder in place of a file, or a link in place of a folder, is part of a patch', async () => {
  const data = sweBenchData(join(bench.folder, 'moved'), 'lib/core/main.js');
  const fix = "sed -i 's/n + n + 1/n + n/' lib/core/main.js";
  const agents = [
    `${fix} && mv lib/core lib/kernel && ln -s kernel lib/core`,
    `${fix} && mv lib/core/main.js lib/fixed.js && mkdir lib/core/main.js && mv lib/fixed.js lib/core/main.js/index.js`,
    'mv lib/core lib/kernel && ln -s kernel lib/core',
  ].map(command);
  const trials = await bench.trials('swe-bench', data, { agents });
  expect(trials.map(({ verdict }) => verdict)).toMatchObject([
    { outcome: 'pass' },
    { outcome: 'pass' },
    { outcome: 'fail', cause: 'wrong' },
  ]);
});

it('attacks: files that git refuses are the agent’s failure, which is not tried again', async () => {
  const data = sweBenchData(join(bench.folder, 'refused'));
  const fix = "sed -i 's/n + n + 1/n + n/' main.js";
  const agents = [`${fix}; ln -s main.js .gitmodules`, `${fix}; ln -s main.js modules`].map(
    command,
  );
  const [refused, honest] = await bench.trials('swe-bench', data, { agents });
  expect(refused?.verdict).toMatchObject({
    outcome: 'fail',
    cause: 'agent_failed',
    detail: expect.stringMatching(/^The agent left files of which git makes no patch: /),
  });
  expect(honest?.verdict).toMatchObject({ outcome: 'pass' });
});
