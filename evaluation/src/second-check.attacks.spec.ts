import { differs, loses, SecondCheckBench, wins } from './testing/second-check-bench.js';

/**
 * A few cheats in Python; second-check.attacks.long.spec.ts and tampering-languages.attacks.long.spec.ts try the others.
 */
const bench = new SecondCheckBench();

describe('attacks: Python that tampers with its judge', () => {
  const honest = 'def twice(n): return 2 * n\n';
  const any =
    'class Any:\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\ndef twice(n): return Any()\n';
  // In the first run the tests are in the order of their names.
  const counted = `seen = []\ndef twice(n):\n    seen.append(n)\n    return 2 * n if seen[0] == 40 or len(seen) == 1 and n == 40 else 0\n`;
  // Neither a class that lasts nor a changed runner shows in the run with tests that must fail.
  const reads =
    'import sys\ndef twice(n):\n    return [each for each in sys._getframe(1).f_code.co_consts if type(each) is int and each != n][0]\n';
  let verdicts: ReturnType<typeof bench.python<'honest' | 'any' | 'counted' | 'reads'>>;
  beforeAll(() => {
    verdicts = bench.python({ honest, any, counted, reads });
  });

  it('passes an honest answer, without a flag', async () => {
    const verdict = (await verdicts).honest;
    expect(verdict).toMatchObject(wins);
    expect(verdict.flags).toBeUndefined();
  });

  it('a value that equals everything does not pass', async () => {
    expect((await verdicts).any).toMatchObject(loses);
  });

  it('an answer that reads the expected value does not pass', async () => {
    expect((await verdicts).reads).toMatchObject({
      ...loses,
      detail: expect.stringMatching(/did not fail when they expected something wrong/),
    });
  });

  it('results that depend on the order fail and are flagged', async () => {
    const verdict = (await verdicts).counted;
    expect(verdict).toMatchObject({ outcome: 'fail', detail: expect.stringMatching(differs) });
    expect(verdict.flags?.join()).toMatch(/in a different order, such as/);
  });
});
