import { z } from 'zod';

/** A line of a shell. */
export const checkCommand = z.string().trim().min(1).max(2_000);

/** How the check command of a session ended. The server runs it, so no agent can say how it went. */
export const checkResult = z.object({
  state: z
    .enum(['running', 'ended', 'failed'])
    .describe(
      '`failed`: it could not be run, see `reason`; an exit code is there when it `ended`.',
    ),
  exitCode: z.int().nullable().default(null),
  seconds: z.number().nonnegative().nullable().default(null),
  reason: z.string().nullable().default(null),
});

/** The check of a session as its summary has it. */
export const sessionCheck = checkResult.extend({
  state: z.enum(['waiting', ...checkResult.shape.state.options]),
  command: z.string(),
  seq: z.int().positive().nullable().describe('The event with the end of its output.'),
});
export type SessionCheck = z.infer<typeof sessionCheck>;
