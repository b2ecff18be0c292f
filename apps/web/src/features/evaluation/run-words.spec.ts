import type { EvaluationSummary } from '@belay/protocol';
import { evaluationWith } from '@/testing/evaluation-with';
import { isSilent, secondsLeft, startWords, validityWords } from './run-words';

const start = Date.parse('2026-01-01T00:00:00.000Z');
const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();

const run = (more: Partial<EvaluationSummary> = {}) =>
  evaluationWith({ created: at(0), reported: at(100), begun: at(0), ...more });

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

it('does not call a run silent while the server watches its start', () => {
  expect(isSilent(run(), start + 200_000)).toBe(true);
  expect(isSilent(run({ phase: 'starting' }), start + 200_000)).toBe(false);
});

it('says how a run was started', () => {
  expect(startWords(run())).toBe('Started in a terminal on here.');
  const choice = { data: 'mine.jsonl', concurrency: 1, maxDollars: null, by: 'Ada' };
  expect(
    startWords(run({ start: { ...choice, sample: null, preflight: false }, attempts: 1 })),
  ).toBe('Started by Ada on this server: mine.jsonl, all tasks, at most 1 trial at a time.');
  expect(
    startWords(run({ start: { ...choice, sample: 20, maxDollars: 5, preflight: true } })),
  ).toBe(
    'Started by Ada on this server: mine.jsonl, 20 tasks at random, 2 attempts each, at most 1 trial at a time, at most $5.00, with preflight.',
  );
});
