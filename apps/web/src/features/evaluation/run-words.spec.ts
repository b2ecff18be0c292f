import type { EvaluationSummary } from '@belay/protocol';
import { isSilent, secondsLeft, validityWords } from './run-words';

const start = Date.parse('2026-01-01T00:00:00.000Z');
const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();

const run = (more: Partial<EvaluationSummary> = {}): EvaluationSummary => ({
  id: 'r',
  suite: 'human-eval',
  agent: 'oracle',
  model: null,
  tasks: 10,
  attempts: 2,
  folder: '/out',
  host: 'here',
  created: at(0),
  state: 'running',
  phase: 'trials',
  checks: null,
  reason: null,
  score: null,
  validity: null,
  seq: 1,
  reported: at(100),
  begun: at(0),
  doneBefore: 10,
  done: 15,
  outcomes: { pass: 15, fail: 0, invalid: 0 },
  tokens: 0,
  dollars: 0,
  ...more,
});

it('counts a run without recent reports as silent, unless it has ended', () => {
  expect(isSilent(run(), start + 120_000)).toBe(false);
  expect(isSilent(run(), start + 150_000)).toBe(true);
  expect(isSilent(run({ state: 'finished' }), start + 150_000)).toBe(false);
});

it('estimates the time left from the pace of the current process only', () => {
  expect(secondsLeft(run(), start + 100_000)).toBe(100);
  expect(secondsLeft(run({ done: 10 }), start + 100_000)).toBeNull();
  expect(secondsLeft(run({ state: 'finished' }), start + 100_000)).toBeNull();
  expect(secondsLeft(run(), start + 200_000)).toBeNull();
});

it('describes how many tasks are valid', () => {
  expect(validityWords(run())).toBe('not checked');
  const flagged = [{ task: 'a', why: 'Doing nothing passes.' }];
  expect(validityWords(run({ validity: { checked: 10, flagged } }))).toBe('9 of 10 valid');
  expect(validityWords(run({ validity: { checked: 8, flagged } }))).toBe(
    '7 of 10 valid, 2 not checked',
  );
});
