import { join } from 'node:path';
import type { Verdict } from '../model.js';
import type { Validity } from '../validity.js';
import { polyglotData, write } from './fixtures.js';
import { answering, TrialBench } from './trial-bench.js';

export const wins = { outcome: 'pass' };
export const differs = /^Different in a second and a third run of the tests: /;
export const loses = {
  outcome: 'fail',
  detail: expect.stringMatching(
    /that must fail passed in a second run|claims to equal everything|did not fail when they expected something wrong/,
  ) as string,
};

/** Judges answers, including the checks after a pass. */
export class SecondCheckBench extends TrialBench {
  /** The verdicts on answers that are the text of the file `path`. */
  async verdictsOf<Name extends string>(
    suite: string,
    data: string,
    { path, answers, known }: { path: string; answers: Record<Name, string>; known?: Validity[] },
  ): Promise<Record<Name, Verdict>> {
    const names = Object.keys(answers) as Name[];
    const agents = names.map((name) => answering({ [path]: answers[name] }));
    const trials = await this.trials(suite, data, { agents, known });
    return Object.fromEntries(
      trials.map(({ verdict }, index) => [names[index], verdict]),
    ) as Record<Name, Verdict>;
  }

  /** The verdicts on answers to a Python exercise with two tests. */
  python<Name extends string>(answers: Record<Name, string>): Promise<Record<Name, Verdict>> {
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
    return this.verdictsOf('polyglot', data, { path: 'twice.py', answers });
  }
}
