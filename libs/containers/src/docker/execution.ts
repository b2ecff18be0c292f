import type { Duplex } from 'node:stream';

/** An additional program in a container. */
export interface ExecutedProgram {
  command: readonly string[];
  user: string;
  env: readonly string[];
  /** Its working folder; the container’s own when omitted. */
  folder?: string;
  /** Whether bytes written to its `output` become its input. */
  takesInput?: boolean;
}

export interface Execution {
  output: Duplex;
  exitCode(): Promise<number | null>;
}
