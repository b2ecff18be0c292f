import type { EvaluationTrial } from '@belay/protocol';
import { trialCellKey, type Trials } from './queries';
import { shownOf, taskRows, trialsAtRest } from './task-rows';

const trial = (task: string, attempt: number, more: Partial<EvaluationTrial>): EvaluationTrial => ({
  task,
  attempt,
  state: 'queued',
  session: null,
  place: null,
  verdict: null,
  seconds: { build: 0, agent: 0, verify: 0 },
  tokens: 0,
  dollars: 0,
  answer: null,
  log: null,
  ...more,
});

const done = (outcome: 'pass' | 'fail'): Partial<EvaluationTrial> => ({
  state: 'done',
  verdict: { outcome, cause: null, reward: 0, detail: '' },
});

const trials: Trials = {
  seq: 1,
  byKey: new Map(
    [
      trial('Own/a', 1, done('pass')),
      trial('Own/a', 2, done('fail')),
      trial('Own/b', 1, { state: 'verifying' }),
    ].map((each) => [trialCellKey(each.task, each.attempt), each]),
  ),
};
const run = {
  tasks: ['Own/a', 'Own/b', 'Other/c'],
  attempts: 2,
  flagged: [{ task: 'Own/b', why: 'Doing nothing passes.' }],
};
const shown = (filter: Parameters<typeof taskRows>[2]) =>
  taskRows(run, trials, filter).map(({ task }) => task);

it('has a row for each task and an entry for each attempt, reported or not', () => {
  const rows = taskRows(run, trials, {});
  expect(rows.map((row) => row.trials.map(shownOf))).toEqual([
    ['pass', 'fail'],
    ['verifying', 'queued'],
    ['queued', 'queued'],
  ]);
  expect(rows.map(({ flagged }) => flagged)).toEqual([
    undefined,
    'Doing nothing passes.',
    undefined,
  ]);
});

it('filters by name and by the status of any attempt', () => {
  expect(shown({ q: 'own/' })).toEqual(['Own/a', 'Own/b']);
  expect(shown({ show: 'fail' })).toEqual(['Own/a']);
  expect(shown({ show: 'running' })).toEqual(['Own/b']);
  expect(shown({ show: 'queued', q: 'other' })).toEqual(['Other/c']);
  expect(shown({ show: 'invalid' })).toEqual([]);
});

it('shows no trial at work in a run that has ended', () => {
  const rows = taskRows(run, trialsAtRest(trials), {});
  expect(rows.map((row) => row.trials.map(shownOf))).toEqual([
    ['pass', 'fail'],
    ['queued', 'queued'],
    ['queued', 'queued'],
  ]);
});
