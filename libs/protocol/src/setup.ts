import { z } from 'zod';

/** A model that the user may choose. */
export const modelChoice = z.object({
  name: z.string(),
  title: z.string(),
  ready: z
    .boolean()
    .describe('Whether the model can be called now: its key is set, or it needs none.'),
  remedy: z.string().nullable().describe('What to do if it is not ready.'),
});
export type ModelChoice = z.infer<typeof modelChoice>;

/** An example session that comes with Belay, ready to start. */
export const example = z.object({
  name: z.string(),
  title: z.string(),
  task: z.string(),
  model: z.string(),
});
export type Example = z.infer<typeof example>;

/** One requirement of Belay, as `belay doctor` shows it. */
export const check = z.object({
  name: z.string(),
  ok: z.boolean(),
  detail: z.string(),
  remedy: z.string().nullable().describe('What to do if it is not met.'),
});
export type Check = z.infer<typeof check>;
