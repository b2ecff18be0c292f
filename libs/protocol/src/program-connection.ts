import { z } from 'zod';

/** How a program is run in a container by the starter there. */
export const programStart = z.object({
  /** A program and its arguments. */
  command: z.tuple([z.string()], z.string()),
  /** Its working directory. */
  folder: z.string(),
  /** Its variables besides those of the image; secrets among them reach no other program. */
  env: z.record(z.string(), z.string()),
  /** Whether it can reach hosts through the server. */
  egress: z.boolean(),
  /** Loopback names and the ports that must accept connections first; they are reached without a proxy. */
  services: z.record(z.string(), z.int().min(1).max(65_535)),
  /** The folder whose files are sent on a stream `files` after the program has ended, and removed. */
  output: z.string().nullable(),
});
export type ProgramStart = z.output<typeof programStart>;

export const programEnd = z.object({
  /** Its exit code, as a shell reports it. */
  code: z.int(),
  /** Whether the kernel killed a process of the container meanwhile, because its memory was full. */
  outOfMemory: z.boolean(),
  /** Processes that it has left and that could not be ended. */
  left: z.int().nonnegative(),
});

/** Calls of the server to the starter in a container of its own, which dials in and runs one program at a time. */
export const programCalls = {
  /** Returns once the program of the last stream `program` has ended, and everything of it is sent. */
  'program.end': { input: z.object({}), output: programEnd },
};

/** The starter opens streams `egress` and `files`, and calls nothing. */
export const programServerCalls = {};

/** The line before the bytes of a file that a program leaves. */
export const programFile = z.object({
  name: z.string().min(1).max(255),
  bytes: z.int().nonnegative(),
});
export type ProgramFile = z.infer<typeof programFile>;
