import { z } from 'zod';

/** What the server can say of a model that the user may choose. */
export const modelChoice = z.object({
  name: z.string(),
  title: z.string(),
  ready: z.boolean().describe('Whether it can be called now: its key is set, or it needs none.'),
  remedy: z.string().nullable().describe('What to do when it is not ready.'),
});
export type ModelChoice = z.infer<typeof modelChoice>;

/** A session that the product ships, ready to be started. */
export const example = z.object({
  name: z.string(),
  title: z.string(),
  task: z.string(),
  model: z.string(),
});
export type Example = z.infer<typeof example>;

/** One thing that must be so for the product to work, as `belay doctor` shows it. */
export const check = z.object({
  name: z.string(),
  ok: z.boolean(),
  detail: z.string(),
  remedy: z.string().nullable().describe('What to do when it is not.'),
});
export type Check = z.infer<typeof check>;
