import type { RunComparison, Summary, Validity } from '@belay/evaluation';
import { comparedValidity, scoreLine, validityLine, validitySentences } from './eval-words.js';

const found = (task: string, valid: boolean): Validity => ({
  task,
  valid,
  nop: valid ? 'fail' : 'pass',
  oracle: 'pass',
  why: valid ? null : 'Doing nothing passes.',
});

it('lists before a run which tasks are flagged, and how many are not checked', () => {
  expect(validitySentences([found('a', true)], 1)).toEqual([]);
  expect(validitySentences([found('a', true), found('b', false)], 3)).toEqual([
    'Flagged by preflight: 1 of 3 tasks cannot measure an agent.',
    '  b: Doing nothing passes.',
    '1 of 3 tasks are not checked. Use --preflight to check them first; it calls no model.',
  ]);
  const long = { ...found('c', false), why: `No.\n${'x'.repeat(4_000)}` };
  expect(validitySentences([long], 1)[1]).toMatch(/^  c: No\. x{100,160}…$/);
  const many = Array.from({ length: 9 }, (_, index) => found(`t${index}`, false));
  expect(validitySentences(many, 9)).toHaveLength(7);
  expect(validitySentences(many, 9).at(-1)).toBe('  and 4 more');
});

it('prints the score with its interval, and first that a run has not finished', () => {
  const line = (done: number) =>
    scoreLine({
      suite: 'mbpp',
      model: null,
      agent: 'nop',
      score: 0.05,
      interval: [0.03, 0.08],
      trials: { done, all: 300 },
    } as Summary);
  expect(line(300)).toBe('mbpp · nop: 5.0% (95%: 3.0% to 8.0%)');
  expect(line(15)).toBe(
    'mbpp · nop: not finished, 15 of 300 trials; 5.0% so far, missing trials count as 0',
  );
});

it('prints beside a score how many tasks are valid', () => {
  const line = (more: Partial<Summary>) =>
    validityLine({ tasks: 10, validScore: null, validity: null, ...more } as Summary, 'do this');
  const flagged = [{ task: 'b', why: 'Doing nothing passes.' }];
  expect(line({})).toBe('validity: not checked (do this)');
  expect(line({ validity: { checked: 10, flagged: [] }, validScore: 0.5 })).toBe(
    'validity: 10 of 10 tasks are valid',
  );
  expect(line({ validity: { checked: 8, flagged }, validScore: 0.5 })).toBe(
    'validity: 7 of 10 tasks are valid; score over these 50.0%; 2 not checked (do this)',
  );
});

it('prints the same for a comparison', () => {
  const line = (more: Partial<RunComparison>) =>
    comparedValidity({ tasks: 4, unflagged: null, ...more } as RunComparison);
  expect(line({ validity: { checked: 0, flagged: [] } })).toMatch(/^validity: not checked/);
  expect(line({ validity: { checked: 4, flagged: [] } })).toBe(
    'validity: none of the tasks is flagged',
  );
  expect(
    line({
      validity: { checked: 3, flagged: ['b'] },
      unflagged: { tasks: 3, difference: 0.1, interval: [-0.05, 0.25] },
    }),
  ).toBe(
    'validity: 1 of 4 tasks are flagged; without them B − A: +10.0 points (95%: -5.0 points to +25.0 points); 1 not checked',
  );
});
