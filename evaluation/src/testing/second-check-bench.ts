import { join } from 'node:path';
import type { Verdict } from '../model.js';
import type { Validity } from '../validity.js';
import { polyglotData, write } from './fixtures.js';
import { answering, TrialBench } from './trial-bench.js';

export const wins = { outcome: 'pass' };
export const differs = /^Not the same in a second and a third run of the tests: /;
export const loses = {
  outcome: 'fail',
  detail: expect.stringMatching(/that must fail did not|claims to equal everything/) as string,
};

/** Answers that are judged, and what the checks after a pass find in them. */
export class SecondCheckBench extends TrialBench {
  async verdictOf(
    suite: string,
    data: string,
    files: Record<string, string>,
    known: Validity[] = [],
  ): Promise<Verdict> {
    return (await this.trial(suite, data, answering(files), known)).verdict;
  }

  /** An exercise in Python with two tests. */
  python(): { wrong: string; answer(text: string): Promise<Verdict> } {
    const data = polyglotData(join(this.folder, 'python'));
    write(data, {
      'python/twice/twice_test.py': [
        'import unittest',
        'from twice import twice',
        'class TwiceTest(unittest.TestCase):',
        '    def test_small(self): self.assertEqual(twice(4), 8)',
        '    def test_large(self): self.assertEqual(twice(40), 80)',
        '',
      ].join('\n'),
    });
    return {
      wrong: 'def twice(n): return 0\n',
      answer: (text) => this.verdictOf('polyglot', data, { 'twice.py': text }),
    };
  }
}
