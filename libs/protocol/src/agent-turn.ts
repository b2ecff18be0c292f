import { z } from 'zod';
import { agentProgramName } from './agents.js';

const name = z.string().max(200);
const description = z.string().max(2_000);

/** A setting that an agent’s program offers its user, such as its mode or its model. */
export const agentOption = z.object({
  id: name,
  name,
  category: name
    .nullable()
    .describe('`mode`, `model`, `thought_level`, or the program’s own word.'),
  value: name.describe('The current choice.'),
  choices: z.array(z.object({ value: name, name, description: description.optional() })).max(200),
});
export type AgentOption = z.infer<typeof agentOption>;

/** A command that an agent’s program understands at the beginning of a message, after a slash. */
export const agentCommand = z.object({ name, description });
export type AgentCommand = z.infer<typeof agentCommand>;

/** How a turn ended; `interrupted` if the program ended in it. */
export const turnEnd = z.enum(['done', 'refused', 'cut', 'cancelled', 'interrupted']);
export type TurnEnd = z.infer<typeof turnEnd>;

/** A change in the work of an agent’s program, which keeps its conversation itself. */
export const agentTurn = z.discriminatedUnion('change', [
  z.object({
    change: z.literal('began'),
    conversation: name.describe('The program’s own id of its conversation.'),
    through: z
      .int()
      .nonnegative()
      .describe('The last event of others that the prompt of this turn includes.'),
  }),
  z.object({ change: z.literal('ended'), end: turnEnd }),
  z.object({
    change: z.literal('settings'),
    options: z.array(agentOption).max(50),
    commands: z.array(agentCommand).max(200),
  }),
]);
export type AgentTurn = z.infer<typeof agentTurn>;

/** A conversation that an agent had on another machine. */
export const importedConversation = z.object({
  agent: agentProgramName,
  skipped: z.int().nonnegative().describe('The lines of its transcript that were not understood.'),
  leftOut: z.int().nonnegative().describe('The oldest entries, for which the log has no space.'),
});
