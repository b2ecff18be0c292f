import { z } from 'zod';
import { newSessionAgent } from './agents.js';
import { modelName } from './models.js';
import { newMessage } from './session-messages.js';

export const forkRequest = z.object({
  seq: z.int().positive().describe('The last event that the new session keeps.'),
  model: modelName.optional(),
  agent: newSessionAgent
    .optional()
    .describe('The agent that continues; that of the session if omitted.'),
  message: newMessage.optional(),
});

export const rewindRequest = z.object({
  seq: z.int().positive().describe('The event to rewind to: the last one that still counts.'),
  what: z.enum(['files', 'conversation', 'both']),
  preview: z.boolean().default(false),
});

/** The changes of a rewind or its preview. */
export const rewound = z.object({
  files: z.array(z.object({ path: z.string(), status: z.string() })),
  messages: z.int().nonnegative(),
});
export type Rewound = z.infer<typeof rewound>;
