import { z } from 'zod';

/** A shell command line. */
export const checkCommand = z.string().trim().min(1).max(2_000);

/** The outcome of a session’s check command, which is run apart from the model’s programs: they cannot forge it. */
export const checkResult = z.object({
  state: z
    .enum(['running', 'ended', 'failed'])
    .describe('`failed`: the command could not be run, see `reason`; `ended`: see `exitCode`.'),
  exitCode: z.int().nullable().default(null),
  seconds: z.number().nonnegative().nullable().default(null),
  reason: z.string().nullable().default(null),
});

/** The check in the summary of a session. */
export const sessionCheck = checkResult.extend({
  state: z.enum(['waiting', ...checkResult.shape.state.options]),
  command: z.string(),
  seq: z
    .int()
    .positive()
    .nullable()
    .describe('The number of the event with the end of its output.'),
});
export type SessionCheck = z.infer<typeof sessionCheck>;
