import { z } from 'zod';
import { defineOperation, operationGroup } from '../operation.js';

/** Search of the installed actions, for when there are too many to list. */
export const actionsOperations = operationGroup({
  'actions.search': defineOperation({
    title: 'Search the actions',
    description:
      'Searches the installed actions, skills and tools, which are too many to list, by their purpose. Returns the best matches, which you can call by name from your next reply on. Search here before you build something that may already be installed.',
    risk: 'read',
    audience: ['model'],
    servedBy: 'run',
    search: 'finder',
    input: z.object({
      query: z
        .string()
        .trim()
        .min(1)
        .max(500)
        .describe('What the action should do, in a few words.'),
    }),
    output: z.object({
      actions: z.array(
        z.object({
          name: z.string().describe('The name of the tool.'),
          operation: z.string(),
          description: z.string(),
          parameters: z.record(z.string(), z.unknown()).describe('JSON Schema of the input.'),
        }),
      ),
      searched: z.int().nonnegative().describe('The number of actions that were searched.'),
    }),
    subject: ({ query }) => query,
    found: ({ actions }) => actions.map(({ operation }) => operation),
  }),
});
