import { noUse, useAfter, type BudgetUse } from './budget-use.js';
import { newEvent, type EventArgs, type NewEvent } from './events.js';
import { budgets } from './budgets.js';

const usage = (purpose: EventArgs<'usage'>['purpose']) =>
  newEvent('server', 'usage', {
    args: {
      inputTokens: 90,
      cachedTokens: 0,
      outputTokens: 10,
      dollars: 0.5,
      model: 'scripted:x',
      purpose,
      contextTokens: 90,
      contextWindow: null,
    },
    message: 'used',
  });

const after = (...events: NewEvent[]): BudgetUse =>
  events.reduce(
    (use: BudgetUse, event, index) =>
      useAfter(use, { ...event, seq: index + 1, time: '2026-01-01T00:00:00Z' }),
    { budgets: budgets.parse({}), ...noUse },
  );

describe('what a session has used of its budgets', () => {
  it('counts a call that shortens the conversation in tokens and cost, and not as a step', () => {
    expect(after(usage('turn'), usage('compact'), usage('turn'))).toMatchObject({
      steps: 2,
      compactions: 1,
      tokens: 300,
      dollars: 1.5,
    });
  });

  it('counts calls without tools like those that shorten the conversation, and failed ones not at all', () => {
    expect(after(usage('turn'), usage('side'), usage('side'), usage('failed'))).toMatchObject({
      steps: 2,
      compactions: 1,
    });
  });

  it('counts as steps what an agent calls so without end', () => {
    const calls = Array.from({ length: 20 }, () => usage('compact'));
    expect(after(usage('turn'), ...calls)).toMatchObject({ steps: 11, compactions: 10 });
    expect(after(...calls.slice(0, 2))).toMatchObject({ steps: 1, compactions: 1 });
  });

  it('begins anew in a fork, and takes changed limits', () => {
    const fork = newEvent('server', 'fork', { args: { session: 't', seq: 3 }, message: 'Forked' });
    const args = { budgets: { steps: 7, tokens: null, dollars: null, seconds: null } };
    const change = newEvent('user', 'change', { args, message: 'Changed' });
    expect(after(usage('turn'), usage('compact'), fork, change)).toMatchObject({
      budgets: { steps: 7 },
      steps: 0,
      compactions: 0,
      tokens: 0,
      dollars: 0,
    });
  });
});
