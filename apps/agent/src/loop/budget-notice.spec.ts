import { budgets, noUse, type BudgetUse } from '@belay/protocol';
import { budgetNotice, newNotice } from './budget-notice.js';

const at = Date.parse('2026-01-01T00:30:00Z');
type Given = Partial<Omit<BudgetUse, 'budgets'>> & {
  budgets?: Partial<BudgetUse['budgets']>;
  last?: { tokens: number; dollars: number };
};
const last = { tokens: 0, dollars: 0 };
const notice = ({ budgets: limits = {}, last: latest = last, ...use }: Given) =>
  budgetNotice(
    { ...noUse, ...use, budgets: { ...budgets.parse({}), ...limits }, last: latest },
    at,
  );

describe('the notice of budgets', () => {
  it.each([
    ['nothing while enough is left', { steps: 89 }, null],
    ['an end in sight', { steps: 90 }, 'At most 10 of 100 steps left: bring the work to an end.'],
    [
      'the same at each of these',
      { steps: 96 },
      'At most 10 of 100 steps left: bring the work to an end.',
    ],
    [
      'each of the last steps',
      { steps: 97 },
      '3 of 100 steps left, this one included: finish, or say what is missing.',
    ],
    ['the last step', { steps: 99 }, /^This is the last of 100 steps: call finish now/],
    ['an only step', { budgets: { steps: 1 } }, /^This is the only step/],
    ['no end in sight at the begin of few steps', { budgets: { steps: 10 } }, null],
    ['no limit', { budgets: { steps: null }, steps: 5_000 }, null],
    [
      'money below a fifth',
      { budgets: { dollars: 2 }, dollars: 1.7 },
      'Less than $0.4 of $2 left: bring the work to an end.',
    ],
    [
      'money below a twentieth',
      { budgets: { dollars: 2 }, dollars: 1.95 },
      'Less than $0.1 of $2 left: finish, or say what is missing.',
    ],
    [
      'tokens that the next replies use up',
      { budgets: { tokens: 500_000 }, tokens: 300_000, last: { tokens: 90_000, dollars: 0 } },
      'The rest of 500,000 tokens lasts for about 2 replies: finish, or say what is missing.',
    ],
    [
      'time',
      { budgets: { seconds: 3_600 }, wallTime: { seconds: 1_300, since: '2026-01-01T00:00:00Z' } },
      'Less than 12 minutes of 60 minutes left: bring the work to an end.',
    ],
    [
      'several at once',
      { steps: 97, budgets: { dollars: 1 }, dollars: 0.99 },
      /^3 of 100 .*\nLess than \$0\.05 of \$1/,
    ],
  ] as [string, Given, string | RegExp | null][])('says %s', (_, given, wanted) => {
    if (wanted instanceof RegExp) expect(notice(given)).toMatch(wanted);
    else expect(notice(given)).toBe(wanted);
  });
  it('is told once for each level', () => {
    const at90 = { ...noUse, steps: 90, budgets: budgets.parse({}), last };
    const told = newNotice({ notice: null }, at90);
    expect(told).toMatch(/^At most 10 of 100 steps left/);
    expect(newNotice({ notice: told ?? null }, { ...at90, steps: 91 })).toBeUndefined();
    expect(newNotice({ notice: told ?? null }, { ...at90, steps: 97 })).toMatch(
      /^3 of 100 steps left/,
    );
  });
});
