import type { EvaluationSummary } from '@belay/protocol';

const time = '2026-01-01T00:00:00.000Z';

/** A run with half of its trials done. */
export const evaluationWith = (more: Partial<EvaluationSummary> = {}): EvaluationSummary => ({
  id: 'r',
  suite: 'human-eval',
  agent: 'oracle',
  model: null,
  tasks: 10,
  attempts: 2,
  folder: '/out',
  host: 'here',
  created: time,
  state: 'running',
  phase: 'trials',
  checks: null,
  reason: null,
  score: null,
  validity: null,
  seq: 1,
  reported: time,
  begun: time,
  doneBefore: 10,
  done: 15,
  outcomes: { pass: 15, fail: 0, invalid: 0 },
  tokens: 0,
  dollars: 0,
  ...more,
});
