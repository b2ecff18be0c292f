import { z } from 'zod';
import { sessionSummary } from './session.js';

/** The usage of a session, with its budgets. */
export const sessionUsage = sessionSummary.pick({
  model: true,
  steps: true,
  compactions: true,
  tokens: true,
  dollars: true,
  contextTokens: true,
  contextWindow: true,
  wallTime: true,
  workTime: true,
  budgets: true,
});

export type SessionUsage = z.infer<typeof sessionUsage>;

const used = z.object({
  sessions: z.int().nonnegative(),
  steps: z.int().nonnegative(),
  tokens: z.int().nonnegative(),
  dollars: z.number().nonnegative(),
});

/** The total usage of all sessions, by their current models. */
export const usageOfAll = used.extend({
  models: z.array(used.extend({ model: z.string() })),
});
export type UsageOfAll = z.infer<typeof usageOfAll>;
