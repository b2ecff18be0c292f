import {
  AppError,
  newEvent,
  wallSeconds,
  dollarsText,
  numberText,
  pluralText,
  type NewEvent,
  type SessionSummary,
} from '@belay/protocol';

export interface SpentBudget {
  budget: 'steps' | 'tokens' | 'dollars' | 'seconds';
  limit: number;
  used: number;
}

/** The first budget that forbids another call, if one does. */
export function spentBudget(summary: SessionSummary): SpentBudget | null {
  const { budgets, steps, tokens, dollars, wallTime } = summary;
  const used = { steps, tokens, dollars, seconds: wallSeconds(wallTime, Date.now()) };
  for (const budget of ['steps', 'tokens', 'dollars', 'seconds'] as const) {
    const limit = budgets[budget];
    if (limit !== null && used[budget] >= limit) return { budget, limit, used: used[budget] };
  }
  return null;
}

export function limitReached(spent: SpentBudget): AppError {
  const { budget, used } = spent;
  const so = budget === 'dollars' ? dollarsText(used) : numberText(used);
  const sentence = `${budgetIsSpent(spent)}: ${so} used. Raise it to continue.`;
  return new AppError('limit_reached', sentence, { ...spent });
}

/** Without a full stop, as more may follow. */
export function budgetIsSpent({ budget, limit }: { budget: string; limit: number }): string {
  const amount = budget === 'dollars' ? `$${limit}` : pluralText(limit, budget.slice(0, -1));
  return `The budget of ${amount} is spent`;
}

/** The event of a spent budget; the session’s end as `limited` follows from it. */
export const limitEvent = (spent: SpentBudget): NewEvent =>
  newEvent('server', 'limit', { args: spent, message: limitReached(spent).message });
