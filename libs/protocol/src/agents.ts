import { z } from 'zod';
import { modelName } from './models.js';

export const agentProgramName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,39}$/,
    'lowercase letters, digits and -, at most 40, starting with a letter or digit',
  );

/** The name of Belay's own agent, which every sandbox has. */
export const ownAgent = 'belay';

/** How a program of another vendor is driven: over the Agent Client Protocol, or by its user in a terminal. */
export const agentProtocol = z.enum(['acp', 'terminal']);
export type AgentProtocol = z.infer<typeof agentProtocol>;

const smallModel = modelName
  .optional()
  .describe(
    'A model of the same provider for small tasks, such as titles; the session’s if omitted.',
  );

/** The agent of a session, as it was installed when the session was created; updates never change it. */
export const sessionAgent = z.object({
  name: agentProgramName,
  version: z.string().max(100).describe('Empty for an agent without one.'),
  protocol: z.enum(['own', ...agentProtocol.options]),
  small: smallModel,
});
export type SessionAgent = z.infer<typeof sessionAgent>;

/** The agent that a new session asks for. */
export const newSessionAgent = z.object({
  name: agentProgramName.describe('`belay`, or the name of an installed agent or of an own entry.'),
  protocol: agentProtocol
    .optional()
    .describe('`acp` if the agent speaks it, or else `terminal`, where the user types.'),
  small: smallModel,
});
