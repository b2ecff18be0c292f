import { AppError, fact, type NewEvent, type SessionSummary } from '@belay/protocol';

export interface SpentBudget {
  budget: 'steps' | 'tokens' | 'dollars' | 'seconds';
  limit: number;
  used: number;
}

/** The first budget that forbids another call, if one does. */
export function spentBudget(
  { budgets, steps, tokens, dollars }: SessionSummary,
  seconds: number,
): SpentBudget | null {
  const used = { steps, tokens, dollars, seconds };
  for (const budget of ['steps', 'tokens', 'dollars', 'seconds'] as const) {
    const limit = budgets[budget];
    if (limit !== null && used[budget] >= limit) return { budget, limit, used: used[budget] };
  }
  return null;
}

export function limitReached(spent: SpentBudget): AppError {
  const { budget, limit, used } = spent;
  const sentence =
    budget === 'dollars'
      ? `The budget of $${limit} is spent: $${used.toFixed(4)} were used.`
      : `The budget of ${limit} ${budget} is spent: ${Math.round(used)} were used.`;
  return new AppError('limit_reached', `${sentence} Raise it to go on.`, { ...spent });
}

/** The event of a spent budget; the session’s end as `limited` follows from it. */
export const limitFact = (spent: SpentBudget): NewEvent =>
  fact('server', 'limit', { args: spent, message: limitReached(spent).message });
