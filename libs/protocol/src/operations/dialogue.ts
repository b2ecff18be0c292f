import { z } from 'zod';
import { defineOperation } from '../operation.js';

const ending = z.object({
  summary: z.string().default(''),
  outcome: z.enum(['success', 'failure']).default('success'),
});

/** What an agent says and decides: nothing here touches the sandbox. */
export const dialogueOperations = {
  'plan.update': defineOperation({
    name: 'plan.update',
    title: 'Update the plan',
    description:
      'Replaces the plan that the person sees: Markdown, with `- [ ]` and `- [x]` for steps.',
    risk: 'read',
    audience: ['model'],
    input: z.object({ markdown: z.string().max(100_000) }),
    output: z.object({ steps: z.int().nonnegative(), done: z.int().nonnegative() }),
  }),
  ask: defineOperation({
    name: 'ask',
    title: 'Ask the person',
    description: 'Asks the person a question and waits for the answer.',
    risk: 'read',
    audience: ['model'],
    input: z.object({
      question: z.string().min(1),
      options: z.array(z.string()).max(9).default([]),
    }),
    output: z.object({ answer: z.string() }),
  }),
  think: defineOperation({
    name: 'think',
    title: 'Think',
    description: 'Writes a thought into the log; nothing else happens.',
    risk: 'read',
    audience: ['model'],
    input: z.object({ thought: z.string() }),
    output: z.object({}),
  }),
  finish: defineOperation({
    name: 'finish',
    title: 'Finish',
    description:
      'Ends the task, alone in its reply: `success` when it is done and checked, else `failure`. `summary` tells the person what changed and how it was checked, or what stands in the way.',
    risk: 'read',
    audience: ['model'],
    input: ending,
    output: ending.describe('As it was asked for: with it the session has ended.'),
  }),
};
