import { z } from 'zod';
import { defineOperation, operationGroup } from '../operation.js';

/** A part of what the model is sent. */
export const promptPart = z.object({
  kind: z.enum(['system', 'guidance', 'tool', 'history']),
  name: z
    .string()
    .describe('The section of the system message, the tool, or the role of the message’s author.'),
  text: z.string().describe('Shortened in the middle if it is long.'),
  tokens: z.int().nonnegative(),
});
export type PromptPart = z.infer<typeof promptPart>;

/** Operations on a session as a whole, as its agent has it. */
export const sessionOperations = operationGroup({
  'session.prompt': defineOperation({
    title: 'Show the prompt',
    description:
      'Shows what the next model call would send: each section of the system message, each tool and each message. Tokens are estimated at four characters each; pictures are not counted.',
    risk: 'read',
    audience: ['user'],
    servedBy: 'run',
    input: z.object({}),
    output: z.object({
      parts: z.array(promptPart),
      tokens: z.int().nonnegative().describe('The tokens of all parts.'),
    }),
  }),
});
