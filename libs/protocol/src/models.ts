import { z } from 'zod';

/** The prefix of Belay’s own texts in a conversation about what the user did by hand. */
export const byHandPrefix = 'The user did this by hand: ';

/** The prefix of Belay’s other texts in a conversation, which are not from the user. */
export const platformPrefix = '[Belay, not the user] ';

/** The name of a model: `provider:model`, `scripted:example:NAME`, or, from an admin, `scripted:FILE` and `cassette:FILE`. */
export const modelName = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,31}:.+$/s,
    'provider:model, such as anthropic:claude-sonnet-5-5, or scripted:FILE, cassette:FILE',
  );

/** Whether a model only plays a script or a recording: it does so whatever the user writes, and fails the same way again. */
export const isPlayedModel = (model: string): boolean => /^(scripted|cassette):/.test(model);

/** Bytes kept beside the log, addressed by their SHA-256 in hex. */
export const blobId = z.string().regex(/^[0-9a-f]{64}$/);

export const operationCall = z.object({
  id: z.string().min(1),
  operation: z.string().describe('The name that the model gave; it may not exist.'),
  input: z.unknown(),
  invalid: z
    .string()
    .optional()
    .describe('Why the input could not be read, if the model sent invalid JSON.'),
});
export type OperationCall = z.infer<typeof operationCall>;

/** Data that only the provider understands and expects back, such as a reasoning signature. */
const opaque = z.record(z.string(), z.unknown());

export const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), text: z.string() }),
  z.object({
    role: z.literal('user'),
    text: z.string(),
    images: z.array(blobId).default([]),
  }),
  z.object({
    role: z.literal('assistant'),
    text: z.string(),
    reasoning: z.string().optional(),
    calls: z.array(operationCall),
    opaque: opaque.optional(),
  }),
  z.object({
    role: z.literal('tool'),
    results: z.array(
      z.object({
        id: z.string(),
        operation: z.string(),
        output: z.unknown(),
        failed: z.boolean(),
        images: z.array(blobId).default([]),
      }),
    ),
  }),
]);
export type Message = z.infer<typeof message>;

export const usage = z.object({
  inputTokens: z.int().nonnegative().describe('The whole prompt, including cached parts.'),
  cachedTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  dollars: z.number().nonnegative().nullable().describe('Null if the price is unknown.'),
});
export type Usage = z.infer<typeof usage>;

export const modelRequest = z.object({
  purpose: z.enum(['turn', 'compact']),
  messages: z.array(message),
  operations: z.array(z.string()).describe('Names of the operations that the model may call.'),
});
export type ModelRequest = z.infer<typeof modelRequest>;

/** A request as an agent sends it, without the messages that the server has from the previous request. */
export const modelCall = modelRequest.extend({
  number: z.int().positive().describe('Increases with each request of an agent.'),
  base: z
    .object({ number: z.int().positive(), messages: z.int().positive() })
    .optional()
    .describe('The previous request, and how many of its first messages precede those sent here.'),
});
export type ModelCall = z.infer<typeof modelCall>;

export const modelReply = z.object({
  text: z.string(),
  reasoning: z.string().optional(),
  calls: z.array(operationCall),
  finish: z
    .enum(['stop', 'calls', 'length', 'filter', 'malformed', 'other'])
    .describe('`malformed`: the model wrote a call that its provider could not read.'),
  usage,
  contextTokens: z
    .int()
    .positive()
    .nullable()
    .describe('The size of the model’s context window, if known.'),
  opaque: opaque.optional(),
});
export type ModelReply = z.infer<typeof modelReply>;

/** The providers with an API of their own. */
export const knownProviders = ['openai', 'anthropic', 'google'] as const;
export type KnownProvider = (typeof knownProviders)[number];

export const isKnownProvider = (name: string): name is KnownProvider =>
  knownProviders.some((known) => known === name);

/**
 * A known provider, or the name that the user gave to a server with an OpenAI-compatible API;
 * `openai-compatible` is the one that the server’s environment can name.
 */
export const providerName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, 'a name of lowercase letters, digits and hyphens')
  .refine((name) => name !== 'scripted' && name !== 'cassette', 'This name has another meaning');

/** The setup of a provider; keys are write-only. */
export const providerSetup = z.object({
  name: providerName,
  key: z
    .enum(['saved', 'environment'])
    .nullable()
    .describe('Where the key comes from; null if there is none.'),
  url: z.string().nullable(),
});
export type ProviderSetup = z.infer<typeof providerSetup>;

export const providerChange = z.object({
  key: z.string().trim().min(1).max(1_000).nullable().optional(),
  url: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .optional(),
  unchecked: z
    .boolean()
    .optional()
    .describe('Saves without asking the provider for its models first.'),
});
export type ProviderChange = z.infer<typeof providerChange>;
