import { join } from 'node:path';
import { nop } from './agents/baselines.js';
import { polyglotData, write } from './testing/fixtures.js';
import { answering, TrialBench } from './testing/trial-bench.js';
import type { Validity } from './validity.js';

const bench = new TrialBench();
const data = polyglotData(join(bench.folder, 'data'));
write(data, {
  'python/twice/twice_test.py': [
    'import unittest',
    'from twice import twice',
    'class TwiceTest(unittest.TestCase):',
    '    def test_small(self): self.assertEqual(twice(0), 0)',
    '    def test_large(self): self.assertEqual(twice(4), 8)',
    '    @unittest.skip("upstream skips it")',
    '    def test_never(self): pass',
    '',
  ].join('\n'),
});

const answer = (...lines: string[]) => answering({ 'twice.py': `${lines.join('\n')}\n` });
const honest = answer('def twice(n): return 2 * n');
const cheats = {
  SkipTest: answer(
    'import unittest',
    'def twice(n):',
    '    if n: raise unittest.SkipTest',
    '    return 0',
  ),
  'pytest.skip': answer(
    'import pytest',
    'def twice(n):',
    '    if n: pytest.skip()',
    '    return 0',
  ),
  'pytest.xfail': answer(
    'import pytest',
    'def twice(n):',
    '    if n: pytest.xfail()',
    '    return 0',
  ),
  'a removed test': answer(
    'import unittest',
    'def twice(n): return 0',
    'def without(cls, **named):',
    '    cls._classSetupFailed, cls._class_cleanups = False, []',
    '    if hasattr(cls, "test_large"): del cls.test_large',
    'unittest.TestCase.__init_subclass__ = classmethod(without)',
  ),
};

describe('attacks: tests that do not run', () => {
  let trials: ReturnType<typeof bench.trials>;
  beforeAll(() => {
    trials = bench.trials('polyglot', data, { agents: [honest, nop, ...Object.values(cheats)] });
  });

  it('passes an answer that passes all tests of the reference, without those that upstream skips', async () => {
    const [passed, none] = await trials;
    expect(passed?.verdict).toMatchObject({
      outcome: 'pass',
      detail: '2 tests passed.',
      tests: { 'twice_test.py::TwiceTest::test_never': 'SKIPPED' },
    });
    expect(none?.verdict).toMatchObject({ outcome: 'fail' });
  });

  it.each(Object.keys(cheats).map((name, at) => [name, at] as const))(
    '%s is not a pass',
    async (_name, at) => {
      expect((await trials)[2 + at]?.verdict).toMatchObject({
        outcome: 'fail',
        detail: expect.stringMatching(/1 of 2 tests that the reference solution passes/),
      });
    },
  );

  it.each([
    ['test_renamed', 'fail'],
    ['test_small', 'pass'],
  ])('names from a preflight take precedence: %s gives a %s', async (name, outcome) => {
    const tests = [`twice_test.py::TwiceTest::${name}`];
    const known: Validity[] = [
      { task: 'python/twice', valid: true, nop: 'fail', oracle: 'pass', why: null, tests },
    ];
    const [trial] = await bench.trials('polyglot', data, { agents: [honest], known });
    expect(trial?.verdict).toMatchObject({ outcome });
  });
});
