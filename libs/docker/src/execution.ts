import type { Duplex } from 'node:stream';

/** A program that is begun beside the first one of a container. */
export interface ExecutedProgram {
  command: readonly string[];
  user: string;
  env: readonly string[];
  /** Where it begins; the container’s own when omitted. */
  folder?: string;
  /** Whether what is written to its `output` is its input. */
  takesInput?: boolean;
}

export interface Execution {
  output: Duplex;
  exitCode(): Promise<number | null>;
}
