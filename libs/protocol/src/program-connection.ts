import { z } from 'zod';
import { errorShape } from './errors.js';

/**
 * The request of a program in a container of its own to the server, in the first line of a connection to its socket.
 * The first line back is the answer; if there is no error, bytes follow.
 */
export const programRequest = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('connect'), host: z.string(), port: z.int().min(1).max(65_535) }),
  /** Sends the program’s files: see `programFile`. */
  z.object({ kind: z.literal('output') }),
]);
export type ProgramRequest = z.infer<typeof programRequest>;

export interface ProgramAnswer {
  error: Pick<z.infer<typeof errorShape>, 'code' | 'message'> | null;
}

/** The line before the bytes of a file that a program leaves. */
export const programFile = z.object({
  name: z.string().min(1).max(255),
  bytes: z.int().nonnegative(),
});
export type ProgramFile = z.infer<typeof programFile>;

/** How a program is started in its container, as JSON in `BELAY_PROGRAM`; `"idle"` waits until its input ends. */
export interface ProgramStart {
  /** Whether it can reach hosts through the server. */
  egress: boolean;
  /** Loopback names and the ports that must accept connections first; they are reached without a proxy. */
  services: Readonly<Record<string, number>>;
  /** The folder whose files are sent after the program ends. */
  output: string | null;
  /** Whether the container is kept for other programs, so that everything of this one must be removed. */
  stays?: boolean;
}
