import { z } from 'zod';
import { defineOperation, operationGroup } from '../operation.js';

/** What is installed, where there is too much of it to list. */
export const actionsOperations = operationGroup({
  'actions.search': defineOperation({
    title: 'Search the actions',
    description:
      'Searches the installed actions, skills and tools, which are too many to list, by what they are for. The best matches are returned, and can be called by their names from the next reply on. Search before you build what may be installed.',
    risk: 'read',
    audience: ['model'],
    servedBy: 'run',
    search: 'finder',
    input: z.object({
      query: z.string().trim().min(1).max(500).describe('What it should do, in a few words.'),
    }),
    output: z.object({
      actions: z.array(
        z.object({
          name: z.string().describe('Its name as a tool.'),
          operation: z.string(),
          description: z.string(),
          parameters: z.record(z.string(), z.unknown()).describe('JSON Schema.'),
        }),
      ),
      searched: z.int().nonnegative().describe('How many there are.'),
    }),
    subject: ({ query }) => query,
    found: ({ actions }) => actions.map(({ operation }) => operation),
  }),
});
