import { z } from 'zod';

/** The limits of a session, each of which may be null for none. */
export const budgetLimits = {
  steps: z
    .int()
    .positive()
    .nullable()
    .describe('Model calls, except those that shorten the conversation.'),
  tokens: z.int().positive().nullable().describe('Tokens of prompts and replies together.'),
  dollars: z.number().positive().nullable(),
  seconds: z.number().positive().nullable().describe('Wall time since the start.'),
};

/** Hard limits, checked before each model call; null means no limit. */
export const budgets = z.object({
  steps: budgetLimits.steps.default(100),
  tokens: budgetLimits.tokens.default(null),
  dollars: budgetLimits.dollars.default(null),
  seconds: budgetLimits.seconds.default(null),
});
export type Budgets = z.infer<typeof budgets>;
