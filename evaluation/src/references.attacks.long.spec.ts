import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { DockerTasks } from '@belay/containers';
import { command, nop } from './agents/baselines.js';
import { defaultFromMap, Images } from './engine/images.js';
import { runTrials } from './run.js';
import { suiteNamed } from './suites/index.js';
import { polyglotData, temporary, write } from './testing/fixtures.js';
import type { Validity } from './validity.js';

const engine = new DockerTasks();
const sandbox = process.env.BELAY_TEST_IMAGE ?? null;
const images = new Images({ engine, sandbox, fromMap: defaultFromMap });
const { folder, remove } = temporary();
afterAll(remove);

const data = polyglotData(join(folder, 'data'));
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
const [task] = suiteNamed('polyglot').read(data);

async function verdictOf(lines: string[], known: Validity[] = []) {
  const program = Buffer.from(`${lines.join('\n')}\n`).toString('base64');
  const [trial] = await runTrials(
    {
      tasks: [task!],
      agent: lines.length > 0 ? command(`echo ${program} | base64 -d > twice.py`) : nop,
      attempts: 1,
      concurrency: 1,
      network: 'none',
      out: mkdtempSync(join(folder, 'run-')),
      signal: new AbortController().signal,
      known,
    },
    { engine, images },
  );
  return trial?.verdict;
}

const honest = 'def twice(n): return 2 * n';
const reference = (tests: string[]): Validity[] => [
  { task: task!.id, valid: true, nop: 'fail', oracle: 'pass', why: null, tests },
];

describe('attacks: tests that do not run', () => {
  it('passes an answer that passes all tests of the reference, without those that upstream skips', async () => {
    expect(await verdictOf([honest])).toMatchObject({
      outcome: 'pass',
      detail: '2 tests passed.',
      tests: { 'twice_test.py::TwiceTest::test_never': 'SKIPPED' },
    });
    expect(await verdictOf([])).toMatchObject({ outcome: 'fail' });
  });

  it.each([
    [
      'SkipTest',
      ['import unittest', 'def twice(n):', '    if n: raise unittest.SkipTest', '    return 0'],
    ],
    ['pytest.skip', ['import pytest', 'def twice(n):', '    if n: pytest.skip()', '    return 0']],
    [
      'pytest.xfail',
      ['import pytest', 'def twice(n):', '    if n: pytest.xfail()', '    return 0'],
    ],
    [
      'a removed test',
      [
        'import unittest',
        'def twice(n): return 0',
        'def without(cls, **named):',
        '    cls._classSetupFailed, cls._class_cleanups = False, []',
        '    if hasattr(cls, "test_large"): del cls.test_large',
        'unittest.TestCase.__init_subclass__ = classmethod(without)',
      ],
    ],
  ])('%s is not a pass', async (_name, lines) => {
    expect(await verdictOf(lines)).toMatchObject({
      outcome: 'fail',
      detail: expect.stringMatching(/1 of 2 tests that the reference solution passes/),
    });
  });

  it('names from a preflight take precedence', async () => {
    const more = reference(['twice_test.py::TwiceTest::test_renamed']);
    expect(await verdictOf([honest], more)).toMatchObject({ outcome: 'fail' });
    const same = reference(['twice_test.py::TwiceTest::test_small']);
    expect(await verdictOf([honest], same)).toMatchObject({ outcome: 'pass' });
  });
});
