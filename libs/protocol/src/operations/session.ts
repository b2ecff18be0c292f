import { z } from 'zod';
import { defineOperation, operationGroup } from '../operation.js';

/** A piece of what the model is sent. */
export const promptPart = z.object({
  kind: z.enum(['system', 'guidance', 'tool', 'history']),
  name: z.string().describe('A section of the system message, a tool, or whose message it is.'),
  text: z.string().describe('Cut in the middle when it is long.'),
  tokens: z.int().nonnegative(),
});
export type PromptPart = z.infer<typeof promptPart>;

/** What a session is about as a whole, as its agent has it. */
export const sessionOperations = operationGroup({
  'session.prompt': defineOperation({
    title: 'Show the prompt',
    description:
      'Shows what the next call of the model would send: each section of the system message, each tool and each message. Tokens are estimated, a token being four characters; pictures are not counted.',
    risk: 'read',
    audience: ['user'],
    servedBy: 'run',
    input: z.object({}),
    output: z.object({
      parts: z.array(promptPart),
      tokens: z.int().nonnegative().describe('Of all parts.'),
    }),
  }),
});
