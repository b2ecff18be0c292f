import { limitReached } from './budgets.js';

it.each([
  ['steps', 1, 1, 'The budget of 1 step is spent: 1 used. Raise it to continue.'],
  ['tokens', 500, 612, 'The budget of 500 tokens is spent: 612 used. Raise it to continue.'],
  ['dollars', 0.5, 0.51234, 'The budget of $0.5 is spent: $0.51 used. Raise it to continue.'],
] as const)('reports which budget is spent: %s', (budget, limit, used, sentence) => {
  expect(limitReached({ budget, limit, used }).message).toBe(sentence);
});
