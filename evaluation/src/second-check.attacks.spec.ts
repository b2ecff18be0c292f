import { join } from 'node:path';
import { harborData, write } from './testing/fixtures.js';
import { differs, loses, SecondCheckBench, wins } from './testing/second-check-bench.js';

/** One of each kind of check; second-check.attacks.long.spec.ts tries every language and every way. */
const bench = new SecondCheckBench();
const { folder } = bench;

describe('attacks: Python that changes its judge', () => {
  const { answer } = bench.python();

  it('passes an honest answer, without a flag', async () => {
    const verdict = await answer('def twice(n): return 2 * n\n');
    expect(verdict).toMatchObject(wins);
    expect(verdict.flags).toBeUndefined();
  });

  it('a value that equals everything wins nothing', async () => {
    const any =
      'class Any:\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\ndef twice(n): return Any()\n';
    expect(await answer(any)).toMatchObject(loses);
  });

  it('results that depend on the order are not a pass, and flagged', async () => {
    const counted = `seen = []\ndef twice(n):\n    seen.append(n)\n    return 2 * n if seen[0] == 40 or len(seen) == 1 and n == 40 else 0\n`;
    // In the first run the tests are in the order of their names.
    const verdict = await answer(counted);
    expect(verdict).toMatchObject({ outcome: 'fail', detail: expect.stringMatching(differs) });
    expect(verdict.flags?.join()).toMatch(/in another order, such as/);
  });
});

it('attacks: a Harbor script without pytest, whose answer tells the runs apart', async () => {
  const data = harborData(join(folder, 'harbor'));
  write(data, {
    'answer/tests/test.sh':
      '#!/bin/bash\nif [ "$(python3 /app/answer.py)" = 42 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n',
    'answer/solution/solve.sh': 'echo "print(42)" > /app/answer.py\n',
  });
  const answer = (text: string) => bench.verdictOf('harbor', data, { '/app/answer.py': text });
  const honest = await answer('print(42)\n');
  expect(honest).toMatchObject(wins);
  expect(honest.flags).toBeUndefined();
  const once = 'import os\nprint(0 if "PYTHONHASHSEED" in os.environ else 42)\n';
  expect(await answer(once)).toMatchObject({
    outcome: 'fail',
    detail: expect.stringMatching(differs),
    flags: [expect.stringMatching(/^A second run has another verdict/)],
  });
});
