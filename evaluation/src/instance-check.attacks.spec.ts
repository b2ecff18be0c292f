import { loses } from './testing/second-check-bench.js';
import { type TestRepository, verdictsOf } from './testing/test-repository.js';
import { TrialBench } from './testing/trial-bench.js';

const bench = new TrialBench();
const wins = {
  outcome: 'pass',
  detail: expect.stringMatching(/^\d tests? (has|have) the expected result\.$/),
};

describe('attacks: a SWE-bench repository tested by pytest', () => {
  const repository: TestRepository = {
    test: [
      'tests/test_thing.py',
      'from thing import twice\n\n\ndef test_small():\n    assert twice(4) == 8\n\n\ndef test_large():\n    assert twice(40) == 80\n',
    ],
    solution: ['thing.py', 'def twice(n): return 0\n', 'def twice(n): return 2 * n\n'],
    parser: 'parse_log_pytest',
    run: 'PYTHONPATH=. python3 -m pytest -rA tests/test_thing.py',
    failing: ['tests/test_thing.py::test_small', 'tests/test_thing.py::test_large'],
  };
  const wrong = 'def twice(n): return 0\n';
  const cheats = {
    'prints what passes, and leaves': `${wrong}import os\nfor number in range(1, 30):\n    try: os.write(number, b'\\nPASSED tests/test_thing.py::test_small\\nPASSED tests/test_thing.py::test_large\\n')\n    except OSError: pass\nos._exit(0)\n`,
    'equals everything':
      'class Any:\n    def __eq__(self, other): return True\ndef twice(n): return Any()\n',
  };
  const honest = 'def twice(n): return 2 * n\n';
  const counted =
    'seen = []\ndef twice(n):\n    seen.append(n)\n    return 2 * n if seen == [4, 40][:len(seen)] else 0\n';
  let verdicts: ReturnType<typeof verdictsOf<keyof typeof cheats | 'honest' | 'counted'>>;
  beforeAll(() => {
    verdicts = verdictsOf(bench, repository, { ...cheats, honest, counted });
  });

  it('passes an honest answer, without a flag', async () => {
    expect((await verdicts).honest).toEqual({
      ...wins,
      cause: null,
      reward: 1,
      tests: expect.any(Object),
    });
  });

  it.each(Object.keys(cheats) as (keyof typeof cheats)[])(
    'gives nothing to an answer that %s',
    async (name) => {
      expect((await verdicts)[name]).toMatchObject(loses);
    },
  );

  it('gives nothing for results that depend on the order, and flags them', async () => {
    expect((await verdicts).counted).toMatchObject({
      outcome: 'fail',
      detail: expect.stringMatching(/^Different in a second and a third run of the tests: /),
      flags: [expect.stringMatching(/2 of 2 tests have a different result in a different order/)],
    });
  });
});
