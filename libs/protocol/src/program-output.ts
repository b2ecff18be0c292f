import type { Operation } from './operation.js';

/** What is known of a call that a program has run. */
export interface EndedRun {
  text: string;
  /** Null if it is not known. */
  exitCode: number | null;
  seconds: number;
  /** The folder that it ran in. */
  cwd: string;
}

/** The output of a call that a program ran, in the shape of its operation. */
export function programOutput(
  { display }: Pick<Operation, 'display'>,
  { text, exitCode, seconds, cwd }: EndedRun,
): Record<string, unknown> {
  if (display !== 'command') return { text };
  return {
    text,
    from: 0,
    to: text.length,
    omittedBytes: 0,
    terminal: 'agent',
    status: 'exited',
    exitCode,
    seconds,
    directory: cwd,
  };
}
