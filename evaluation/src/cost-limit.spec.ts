import { costLimitReached } from './cost-limit.js';
import { pass, type Trial } from './model.js';

const trial = (dollars: number, tokens = 10): Trial => ({
  key: 'k',
  suite: 'human-eval',
  task: 'a',
  attempt: 1,
  agent: 'model',
  model: 'openai:x',
  verdict: pass('Passed.'),
  session: null,
  tokens,
  dollars,
  seconds: { build: 0, agent: 0, verify: 0 },
  started: '2026-01-01T00:00:00.000Z',
});

it('is reached when the trials have cost the limit together', () => {
  const trials = [trial(1), trial(0.5)];
  expect(costLimitReached(trials, undefined)).toBeUndefined();
  expect(costLimitReached(trials, 1.51)).toBeUndefined();
  expect(costLimitReached(trials, 1.5)).toMatch(/cost \$1\.50 of at most \$1\.50\. Resume/);
});

it('is reached at once if the price is not known, because nothing could be counted', () => {
  expect(costLimitReached([trial(0)], 10)).toMatch(/price of openai:x is not known/);
  // Without calls of a model, there is nothing to count.
  expect(costLimitReached([trial(0, 0)], 10)).toBeUndefined();
});
