import { z } from 'zod';
import { defineOperation, operationGroup } from '../operation.js';
import { reproduction } from '../reruns.js';

const text = z.string().trim().min(1).max(10_000);

/** Something to say on a line of a pull request. */
const lineComment = z.object({
  path: z.string().min(1).max(1_000),
  line: z.int().positive().max(10_000_000),
  side: z
    .enum(['new', 'old'])
    .default('new')
    .describe('`old` for a line that the change removes, with its number in the old file.'),
  text,
});

/** What an agent hands in for others to publish. It only records: nothing is sent by it. */
export const reportOperations = operationGroup({
  report: defineOperation({
    title: 'Report',
    description:
      'Hands in what the server publishes of this work: call it right before finish. It sends nothing by itself; of several calls, the last one counts. `reproduction` names the test that fails without the change and passes with it; the server runs it both ways.',
    risk: 'read',
    audience: ['model'],
    input: z.object({
      title: z.string().trim().max(200).optional().describe('Of the pull request, in one line.'),
      summary: z
        .string()
        .trim()
        .min(1)
        .max(4_000)
        .describe('What was found and changed, and how it was checked, in Markdown.'),
      noChange: z
        .string()
        .trim()
        .min(1)
        .max(2_000)
        .optional()
        .describe('Why nothing was changed, if nothing should be.'),
      reproduction: reproduction.optional(),
      comments: z
        .array(lineComment)
        .max(50)
        .default([])
        .describe('Of a review: on lines that the pull request changes or shows beside them.'),
      replies: z
        .array(z.object({ thread: z.string().min(1).max(100), text }))
        .max(50)
        .default([])
        .describe('Answers to threads that the task lists, by their ids.'),
    }),
    output: z.object({}),
    summary: ({ summary }) => summary,
    concurrent: false, // The last call counts.
    idle: true,
    setting: 'report',
  }),
});

/** What an agent handed in: data that it wrote, whatever it says. */
export type RunReport = z.output<(typeof reportOperations)['report']['input']>;
