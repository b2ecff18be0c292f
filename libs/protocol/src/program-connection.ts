import { z } from 'zod';
import { errorShape } from './errors.js';

/**
 * What a program in a container of its own asks of the server, in the first line of a connection to its socket. The
 * first line back is the answer; after a yes, bytes follow.
 */
export const programRequest = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('connect'), host: z.string(), port: z.int().min(1).max(65_535) }),
  /** Its files: see `programFile`. */
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
  /** Whether it reaches hosts by the server. */
  egress: boolean;
  /** Names of loopback and the ports there that must answer first; they are reached without a proxy. */
  services: Readonly<Record<string, number>>;
  /** The folder of which the files are sent when it has ended. */
  output: string | null;
  /** Whether the container stays for others, so that nothing of this one may. */
  stays?: boolean;
}
