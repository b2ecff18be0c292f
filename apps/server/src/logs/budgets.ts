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

/** The first budget that allows no further call, if any. */
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

/** A sentence without its full stop, so that it can be continued. */
export function budgetIsSpent({ budget, limit }: { budget: string; limit: number }): string {
  const amount = budget === 'dollars' ? `$${limit}` : pluralText(limit, budget.slice(0, -1));
  return `The budget of ${amount} is spent`;
}

/** The event of a spent budget; it ends the session as `limited`. */
export const limitEvent = (spent: SpentBudget): NewEvent =>
  newEvent('server', 'limit', { args: spent, message: limitReached(spent).message });
