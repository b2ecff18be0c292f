import { z } from 'zod';
import { fileVersion } from '../file-version.js';
import { defineOperation, operationGroup } from '../operation.js';

const ending = z.object({
  summary: z.string().default('').describe('If empty, the text of the reply.'),
  outcome: z.enum(['success', 'failure']).default('success'),
});

/** Messages and decisions of an agent; none of these operations touches the sandbox. */
export const dialogueOperations = operationGroup({
  'plan.update': defineOperation({
    title: 'Update the plan',
    description:
      'Replaces the plan that the user sees: Markdown, with `- [ ]` and `- [x]` for steps.',
    risk: 'read',
    knownAs: 'updateplan todowrite todoread writetodos updatetodolist taskcreate taskupdate',
    audience: ['model'],
    input: z.object({ markdown: z.string().max(100_000) }),
    output: z.object({
      steps: z.int().nonnegative(),
      done: z.int().nonnegative(),
      path: z.string().optional().describe('The file that contains the plan.'),
      version: fileVersion.optional(),
    }),
    files: ({ path, version }) => (path && version ? [{ kind: 'written', path, version }] : []),
    display: 'event',
    concurrent: false, // Its position among the other calls matters.
    idle: true,
  }),
  ask: defineOperation({
    title: 'Ask the user',
    description: 'Asks the user a question and waits for the answer.',
    risk: 'read',
    knownAs: 'askuser askuserquestion askfollowupquestion requestuserinput question exitplanmode',
    audience: ['model'],
    input: z.object({
      question: z.string().min(1),
      options: z.array(z.string()).max(9).default([]),
    }),
    output: z.object({ answer: z.string() }),
    subject: ({ question }) => question,
    display: 'question',
    servedBy: 'loop',
    concurrent: false,
  }),
  think: defineOperation({
    title: 'Think',
    description: 'Writes a thought to the log and does nothing else.',
    risk: 'read',
    knownAs: 'sequentialthinking',
    audience: ['model'],
    input: z.object({ thought: z.string() }),
    output: z.object({}),
    display: 'thought',
    idle: true,
  }),
  finish: defineOperation({
    title: 'Finish',
    description:
      'Ends the task; must be the only call in its reply. `outcome` is `success` if the task is done and checked, otherwise `failure`. `summary` tells the user what changed, how it was checked and what is left open, or what stands in the way.',
    risk: 'read',
    aliases: { result: 'summary', message: 'summary', answer: 'summary' },
    knownAs: 'submit complete done attemptcompletion taskdone exit',
    audience: ['model'],
    input: ending,
    output: ending.describe('The same as the input; the session has ended.'),
    display: 'ending',
    servedBy: 'loop',
    concurrent: false,
  }),
});
