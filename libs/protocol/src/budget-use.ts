import { isEvent, type Event, type EventArgs } from './events.js';
import type { SessionSummary } from './session.js';
import { wallTimeAfter } from './wall-time.js';

/** The budgets of a session and what it has used of them. */
export type BudgetUse = Pick<
  SessionSummary,
  'budgets' | 'steps' | 'compactions' | 'tokens' | 'dollars' | 'wallTime'
>;

/** Nothing used yet. */
export const noUse = {
  steps: 0,
  compactions: 0,
  tokens: 0,
  dollars: 0,
  wallTime: { seconds: 0, since: null },
} as const satisfies Omit<BudgetUse, 'budgets'>;

/** Folds one event into the use; the server and the agent compute the same from the same log. */
export function useAfter(use: BudgetUse, event: Event): BudgetUse {
  const { budgets, steps, compactions, tokens, dollars } = changed(use, event);
  const wallTime = wallTimeAfter(use.wallTime, event);
  return { budgets, steps, compactions, tokens, dollars, wallTime };
}

function changed(use: BudgetUse, event: Event): BudgetUse {
  if (isEvent(event, 'start')) return { ...use, budgets: event.args.budgets };
  if (isEvent(event, 'change')) return { ...use, budgets: event.args.budgets ?? use.budgets };
  // The other session’s use is counted in that session.
  if (isEvent(event, 'fork')) return { ...use, ...noUse };
  if (!isEvent(event, 'usage')) return use;
  return {
    ...use,
    ...counted(use, event.args),
    tokens: use.tokens + event.args.inputTokens + event.args.outputTokens,
    dollars: use.dollars + (event.args.dollars ?? 0),
  };
}

function counted(
  { steps, compactions }: BudgetUse,
  { purpose }: EventArgs<'usage'>,
): Pick<BudgetUse, 'steps' | 'compactions'> {
  if (purpose === 'draft' || purpose === 'failed') return { steps, compactions };
  return isNoStep(purpose, { steps, compactions })
    ? { steps, compactions: compactions + 1 }
    : { steps: steps + 1, compactions };
}

/** Calls for a summary and calls without tools are not steps, unless an agent makes more of these than steps. */
export const isNoStep = (
  purpose: EventArgs<'usage'>['purpose'],
  { steps, compactions }: Pick<BudgetUse, 'steps' | 'compactions'>,
): boolean => (purpose === 'compact' || purpose === 'side') && compactions < steps;
