import type { NewSessionResponse, StopReason } from '@agentclientprotocol/sdk';
import { z } from 'zod';

/** What matters of a program’s answers, which the SDK does not check. Optional parts that are not valid are left out. */
export const initialized = z.object({
  agentCapabilities: z
    .object({
      loadSession: z.boolean().default(false).catch(false),
      promptCapabilities: z.object({ image: z.boolean().optional() }).default({}).catch({}),
      sessionCapabilities: z.object({ resume: z.unknown().optional() }).default({}).catch({}),
    })
    .prefault({})
    .catch({ loadSession: false, promptCapabilities: {}, sessionCapabilities: {} }),
  authMethods: z
    .array(z.object({ id: z.string() }))
    .default([])
    .catch([]),
});
export type Initialized = z.infer<typeof initialized>;

type Settings = Pick<NewSessionResponse, 'modes' | 'configOptions'>;

const modes = z.object({
  currentModeId: z.string(),
  availableModes: z.array(
    z.object({ id: z.string(), name: z.string(), description: z.string().nullish() }),
  ),
});
const choice = z.object({
  value: z.string(),
  name: z.string(),
  description: z.string().nullish(),
});
const named = { id: z.string(), name: z.string(), category: z.string().nullish() };
const configOption = z.union([
  z.object({ ...named, type: z.literal('boolean'), currentValue: z.boolean() }),
  z.object({
    ...named,
    type: z.literal('select'),
    currentValue: z.string(),
    options: z.array(z.union([z.object({ options: z.array(choice) }), choice])),
  }),
]);

const settings = z.object({
  modes: modes.nullish().catch(undefined),
  configOptions: z
    .array(configOption.optional().catch(undefined))
    .transform((options) => options.filter((option) => option !== undefined))
    .nullish()
    .catch(undefined),
}) as unknown as z.ZodType<Settings>;

/** Of a conversation that is continued, or an option that is set; some programs answer nothing. */
export const settingsAnswer = z.preprocess((given) => given ?? {}, settings);

export const sessionAnswer = z.intersection(
  // As long as an id in the log may be.
  z.object({ sessionId: z.string().min(1).max(200) }),
  settings,
);

const stopReasons = [
  'end_turn',
  'max_tokens',
  'max_turn_requests',
  'refusal',
  'cancelled',
] as const;
export const promptAnswer = z.object({
  stopReason: z.enum(stopReasons satisfies readonly StopReason[]).catch('end_turn'),
});

/** The error that a program answers with; the sentence in its data says more than its message. */
export const answeredError = z.object({
  code: z.number(),
  message: z.string(),
  data: z
    .union([
      z.string(),
      z.object({ message: z.string() }).transform(({ message }) => message),
      z.object({ details: z.string() }).transform(({ details }) => details),
    ])
    .optional()
    .catch(undefined),
});
