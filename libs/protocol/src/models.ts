import { z } from 'zod';

/** A text of the platform in a conversation that says what the user did by hand begins with this. */
export const byHandPrefix = 'The user did this by hand: ';

/** Another text of the platform in a conversation, which is not the user’s, begins with this. */
export const platformPrefix = '[Belay, not the user] ';

/** Where a model is: `provider:model`, or `scripted:FILE` and `cassette:FILE`. */
export const modelName = z
  .string()
  .regex(
    /^(openai|anthropic|google|openai-compatible|scripted|cassette):.+$/s,
    'provider:model, with one of the providers openai, anthropic, google, openai-compatible, or scripted:FILE, cassette:FILE',
  );

/** Bytes kept beside the log, addressed by their SHA-256 in hex. */
export const blobId = z.string().regex(/^[0-9a-f]{64}$/);

export const operationCall = z.object({
  id: z.string().min(1),
  operation: z.string().describe('As the model named it; it may not exist.'),
  input: z.unknown(),
  invalid: z
    .string()
    .optional()
    .describe('Why the input could not be read, when the model sent broken JSON.'),
});
export type OperationCall = z.infer<typeof operationCall>;

/** What only the provider understands and wants back, such as a reasoning signature. */
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
  inputTokens: z.int().nonnegative().describe('All of the prompt, cached parts included.'),
  cachedTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  dollars: z.number().nonnegative().nullable().describe('Null when the price is not known.'),
});
export type Usage = z.infer<typeof usage>;

export const modelRequest = z.object({
  purpose: z.enum(['turn', 'compact']),
  messages: z.array(message),
  operations: z.array(z.string()).describe('Names of the operations that the model may call.'),
});
export type ModelRequest = z.infer<typeof modelRequest>;

/** A request as an agent sends it: messages that the server has from the request before are not repeated. */
export const modelCall = modelRequest.extend({
  number: z.int().positive().describe('Increases with each request of an agent.'),
  base: z
    .object({ number: z.int().positive(), messages: z.int().positive() })
    .optional()
    .describe(
      'The request before, and how many of its first messages stand before those sent here.',
    ),
});
export type ModelCall = z.infer<typeof modelCall>;

export const modelReply = z.object({
  text: z.string(),
  reasoning: z.string().optional(),
  calls: z.array(operationCall),
  finish: z.enum(['stop', 'calls', 'length', 'filter', 'other']),
  usage,
  contextTokens: z.int().positive().nullable().describe('The model’s window, when known.'),
  opaque: opaque.optional(),
});
export type ModelReply = z.infer<typeof modelReply>;

export const providerName = z.enum(['openai', 'anthropic', 'google', 'openai-compatible']);
export type ProviderName = z.infer<typeof providerName>;

/** Whether a provider can be called; a key itself is written and never read. */
export const providerSetup = z.object({
  name: providerName,
  key: z
    .enum(['saved', 'environment'])
    .nullable()
    .describe('Where its key comes from; null when there is none.'),
  url: z.string().nullable(),
});
export type ProviderSetup = z.infer<typeof providerSetup>;

export const providerChange = z.object({
  key: z.string().trim().min(1).max(1_000).nullable().optional(),
  url: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .optional(),
});
export type ProviderChange = z.infer<typeof providerChange>;
