import { z } from 'zod';
import { modelName } from './models.js';
import { transcriptPlace } from './transcript-file.js';
import { wireFormatName } from './wire-format-name.js';

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

/** The terminal in which an agent’s program runs that its user types into. */
export const agentTerminal = 'agent';

/** The agent of a session, as it was installed when the session was created; updates never change it. */
export const sessionAgent = z.object({
  name: agentProgramName,
  version: z.string().max(100).describe('Empty for an agent without one.'),
  protocol: z.enum(['own', ...agentProtocol.options]),
  small: smallModel,
  login: z
    .string()
    .max(100)
    .optional()
    .describe(
      'The user whose own sign-in at the vendor the agent uses, such as `owner` or `user:ID`; omitted if it calls the session’s model.',
    ),
});
export type SessionAgent = z.infer<typeof sessionAgent>;

/** The agent that a new session asks for. */
export const newSessionAgent = z.object({
  name: agentProgramName.describe('`belay`, or the name of an installed agent or of an own entry.'),
  protocol: agentProtocol
    .optional()
    .describe('`acp` if the agent speaks it, or else `terminal`, where the user types.'),
  small: smallModel,
  login: z
    .boolean()
    .optional()
    .describe(
      'You sign in to the agent in its terminal, with your subscription. `model` does not count then, and Belay sees, counts and holds nothing of its calls.',
    ),
});

/** The `model` of a session whose agent its user signs in to: nobody but the agent knows the real one. */
export const subscriptionModel = (agent: string): string => `${agent}:subscription`;

/** Choices of the options that an agent’s program offers. */
export const chosenAgentOptions = z
  .record(z.string().max(200), z.string().max(200))
  .describe('Settings that the agent’s program offers, such as its mode, by their ids.');

/** Why a program waits for its user. */
export const attentionReason = z
  .string()
  .nullable()
  .default(null)
  .describe('Why the agent’s program waits for the user in its terminal.');

/** An agent that sessions can be started with, as people see it. */
export const agentChoice = z.object({
  name: agentProgramName,
  title: z.string(),
  about: z.string().describe('One sentence about it.'),
  kind: z
    .enum(['installable', 'custom'])
    .describe('`custom`: an entry of an admin, whose program comes with the image of a session.'),
  protocols: z.array(agentProtocol).min(1).describe('How it can be driven, the best way first.'),
  formats: z.array(wireFormatName).describe('The formats of model providers that it speaks.'),
  transcripts: transcriptPlace
    .optional()
    .describe('Where its conversations are on a user’s machine, if they can be imported.'),
  login: z
    .enum(['possible', 'kept'])
    .optional()
    .describe('Whether users can sign in to it themselves; `kept`: the caller has.'),
  licence: z
    .object({
      spdx: z.string().nullable().describe('Null for a proprietary licence.'),
      url: z.string(),
    })
    .nullable()
    .describe('Null for an entry of an admin.'),
  state: z.enum(['missing', 'installing', 'ready', 'failed']),
  version: z.string().nullable().describe('The installed version.'),
  newest: z.string().nullable().describe('The version that an install or update brings.'),
  bytes: z
    .object({ done: z.int().nonnegative(), total: z.int().nonnegative() })
    .describe('The size of the download, and how much of it has arrived.'),
  error: z.string().nullable().describe('Why the last install failed, in one sentence.'),
  sessions: z.int().nonnegative().describe('Sessions with this agent, which keep its files.'),
  command: z.array(z.string()).describe('The command of an entry of an admin.'),
  variables: z.array(z.string()).describe('Names of its variables; their values are not shown.'),
});
export type AgentChoice = z.infer<typeof agentChoice>;

/** A version of an agent's program, as npm writes it. */
export const agentVersion = z
  .string()
  .max(60)
  .regex(/^\d+\.\d+\.\d+(-[\w.-]+)?$/, 'a version such as 1.2.3');

const integrity = z.string().max(200).describe('SHA-512 of its archive, as npm writes it.');

/** A version of an agent that Belay has no lock for: what the npm registry says about the packages of its program. */
export const otherAgentVersion = z.object({
  version: agentVersion,
  packages: z
    .array(z.object({ name: z.string(), version: z.string(), integrity }))
    .describe('Those that differ from Belay’s lock.'),
});
export type OtherAgentVersion = z.infer<typeof otherAgentVersion>;

/** An install of such a version: the admin has seen what the registry has, and confirms it. */
export const confirmedVersion = z.object({
  version: agentVersion,
  integrity: z.array(integrity).max(20).describe('That of each package, in the order of the list.'),
});

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'letters, digits and _')
  .refine((name) => !/^(LD_.*|NODE_OPTIONS|BELAY_.*)$/.test(name), 'a variable of the system');

/** An agent whose program is in the image of a session, or is started from the workspace. */
export const customAgent = z.object({
  name: agentProgramName.refine((name) => name !== ownAgent, 'this is Belay’s own agent'),
  title: z.string().trim().min(1).max(60).optional().describe('The name if omitted.'),
  command: z
    .array(z.string().min(1).max(2_000))
    .min(1)
    .max(100)
    .describe(
      'The program and its arguments; `{task}` stands for the task, and for nothing when the program is started again in a terminal.',
    ),
  env: z
    .record(variableName, z.string().max(10_000))
    .default({})
    .describe('Variables that programs in the sandbox can read.'),
  protocol: agentProtocol,
});
export type CustomAgent = z.output<typeof customAgent>;

/** What an admin saves of such an agent, besides its name. */
export const savedCustomAgent = customAgent.omit({ name: true }).extend({
  env: z
    .record(variableName, z.string().max(10_000).nullable())
    .default({})
    .describe(
      'Variables that programs in the sandbox can read; not shown again. Null keeps the saved value.',
    ),
});
export type SavedCustomAgent = z.output<typeof savedCustomAgent>;
