import { wallSeconds, pluralText, type BudgetUse } from '@belay/protocol';
import type { Conversation } from './conversation.js';
import { promptDuration } from './describe-settings.js';

/** A session’s usage, and the share of the last reply in it. */
export interface Spending extends BudgetUse {
  readonly last: { readonly tokens: number; readonly dollars: number };
}

/** For this many last steps, each step is announced. */
const lastSteps = 3;
/** The number of remaining steps that is announced first, for budgets longer than `longSteps`. */
const fewSteps = 10;
const longSteps = 20;
/** The remaining shares of a budget at which the model is told. */
const shares = [0.05, 0.2] as const;

const end = 'finish, or say what is missing';

/** The notice for the next prompt; undefined if the last replies were preceded by the same one. */
export function newNotice(
  { notice: known }: Pick<Conversation, 'notice'>,
  spending: Spending,
): string | undefined {
  const notice = budgetNotice(spending, Date.now());
  return notice === null || notice === known ? undefined : notice;
}

/**
 * The text about nearly spent budgets before the model’s next reply. It changes only when a whole level is crossed, so
 * that the model gets each notice once.
 */
export function budgetNotice(spending: Spending, now: number): string | null {
  const { budgets, steps, tokens, dollars, wallTime, last } = spending;
  const dollarsLeft = (left: number) => `$${Number(left.toPrecision(3))}`;
  const tokensLeft = (left: number) => pluralText(Math.round(left), 'token');
  const notices = [
    stepsNotice(budgets.steps, steps),
    shareNotice(budgets.dollars, { used: dollars, last: last.dollars, words: dollarsLeft }),
    shareNotice(budgets.tokens, { used: tokens, last: last.tokens, words: tokensLeft }),
    shareNotice(budgets.seconds, {
      used: wallSeconds(wallTime, now),
      last: 0,
      words: promptDuration,
    }),
  ].filter((notice) => notice !== null);
  return notices.length === 0 ? null : notices.join('\n');
}

function stepsNotice(limit: number | null, used: number): string | null {
  if (limit === null) return null;
  const left = limit - used;
  if (left <= 1) {
    const which = limit === 1 ? 'only step' : `last of ${limit} steps`;
    return `This is the ${which}: call finish now, and say in its summary what is done, how it was checked and what is missing.`;
  }
  if (left <= lastSteps) return `${left} of ${limit} steps left, this one included: ${end}.`;
  if (left > fewSteps || limit <= longSteps) return null;
  return `At most ${fewSteps} of ${limit} steps left: bring the work to an end.`;
}

interface Amount {
  used: number;
  /** The usage of the last reply; the next one is expected to be similar. */
  last: number;
  words: (amount: number) => string;
}

function shareNotice(limit: number | null, { used, last, words }: Amount): string | null {
  if (limit === null) return null;
  const left = limit - used;
  const replies = last > 0 ? Math.floor(left / last) : Number.POSITIVE_INFINITY;
  if (replies <= lastSteps) {
    const count = replies <= 1 ? 'this one reply' : `about ${replies} replies`;
    return `The rest of ${words(limit)} lasts for ${count}: ${end}.`;
  }
  const share = shares.find((one) => left < one * limit);
  if (share === undefined) return null;
  const advice = share === shares[0] ? end : 'bring the work to an end';
  return `Less than ${words(share * limit)} of ${words(limit)} left: ${advice}.`;
}
