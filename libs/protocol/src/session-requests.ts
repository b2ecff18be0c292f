import { z } from 'zod';
import { agentProgramName, newSessionAgent } from './agents.js';
import { modelName } from './models.js';
import { newSession } from './session.js';
import { newMessage } from './session-messages.js';
import { maxTranscriptLength } from './transcript-file.js';

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

/** A session that continues a conversation from another machine. */
export const importRequest = newSession.omit({ task: true, images: true }).extend({
  model: modelName.optional(),
  from: agentProgramName
    .optional()
    .describe('The agent whose transcript it is; found out from the file if omitted.'),
  transcript: z.string().min(1).max(maxTranscriptLength).describe('The file’s text.'),
  message: newMessage.shape.text
    .optional()
    .describe('A message to continue with; if omitted, the agent is told to go on.'),
});
export type ImportRequest = z.input<typeof importRequest>;
