import { fileEntry } from './entries.js';
import { loses } from './testing/second-check-bench.js';
import { pytestRepository } from './testing/pytest-repository.js';
import { type TestRepository, verdictsOf } from './testing/test-repository.js';
import { TrialBench } from './testing/trial-bench.js';

const bench = new TrialBench(['javascript']);
const wins = {
  outcome: 'pass',
  detail: expect.stringMatching(/^\d tests? (has|have) the expected result\.$/),
};

/** An image with Jest and with a repository of this one file. */
async function withJest(path: string, given: string): Promise<string> {
  const signal = AbortSignal.timeout(590_000);
  const { name } = await bench.images.ensure({ kind: 'toolchain', name: 'javascript' }, signal);
  const lines = [
    `FROM ${name}`,
    'WORKDIR /testbed',
    `COPY given ${path}`,
    'RUN echo {} > package.json && git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -q -m base',
  ];
  const files = [fileEntry('Dockerfile', lines.join('\n')), fileEntry('given', given)];
  const image = await bench.images.ensure({ kind: 'build', files }, signal);
  bench.forgetAfter(image.name);
  return image.name;
}

it('attacks: a SWE-bench repository tested by Jest, whose log names only files', async () => {
  const right = 'module.exports = (n) => 2 * n;\n';
  const wrong = 'module.exports = () => 0;\n';
  const path = 'test/unit/twice.test.js';
  const repository: TestRepository = {
    test: [
      path,
      "const twice = require('../../twice');\ntest('small', () => { expect(twice(4)).toBe(8); });\ntest('large', () => { expect(twice(40)).toBe(80); });\n",
    ],
    solution: ['twice.js', wrong, right],
    parser: 'parse_log_scratch_gui',
    run: `/toolchain/node_modules/.bin/jest --no-colors ${path}`,
    failing: [path],
    image: await withJest('twice.js', wrong),
  };
  const claims =
    'const all = new Proxy(() => all, { get: () => all });\nglobalThis.expect = all;\n';
  const verdicts = await verdictsOf(bench, repository, {
    right,
    claims: `${wrong}${claims}`,
    // Records its first run in a file, which no new container has.
    counts: `${wrong}const fs = require('fs');\nconst again = fs.existsSync('/testbed/runs');\nfs.writeFileSync('/testbed/runs', '1');\nif (!again) {\n${claims}}\n`,
    // Distinguishes the runs by the decoys.
    looks: `${wrong}if (!require('fs').readFileSync('${path}', 'utf8').includes('decoy')) {\n${claims}}\n`,
  });
  expect(verdicts.right).toMatchObject(wins);
  expect(verdicts.right.flags).toBeUndefined();
  expect(verdicts.claims).toMatchObject(loses);
  expect(verdicts.counts).toMatchObject(loses);
  expect(verdicts.looks).toMatchObject(loses);
});

it('attacks: a SWE-bench program that modifies how its assertions compare', async () => {
  const right = 'module.exports = (all) => all.map((each) => 2 * each);\n';
  const repository: TestRepository = {
    test: [
      'test.js',
      "const twice = require('./main');\nconsole.assert(JSON.stringify(twice([4, 5])) === JSON.stringify([8, 10]));\n",
    ],
    solution: ['main.js', 'module.exports = () => [];\n', right],
    parser: 'console_assert',
    run: 'node test.js',
    failing: ['test.js'],
  };
  const patched = "module.exports = () => [];\nJSON.stringify = () => '';\n";
  const verdicts = await verdictsOf(bench, repository, { right, patched });
  expect(verdicts.right).toMatchObject(wins);
  expect(verdicts.right.flags).toBeUndefined();
  expect(verdicts.patched).toMatchObject(loses);
});

it('attacks: a SWE-bench repository tested by pytest gives nothing for values that equal everything, nor by the order', async () => {
  const any = 'class Any:\n    def __eq__(self, other): return True\ndef twice(n): return Any()\n';
  const counted =
    'seen = []\ndef twice(n):\n    seen.append(n)\n    return 2 * n if seen == [4, 40][:len(seen)] else 0\n';
  const verdicts = await verdictsOf(bench, pytestRepository, { any, counted });
  expect(verdicts.any).toMatchObject(loses);
  expect(verdicts.counted).toMatchObject({
    outcome: 'fail',
    detail: expect.stringMatching(/^Different in a second and a third run of the tests: /),
    flags: [expect.stringMatching(/2 of 2 tests have a different result in a different order/)],
  });
});
