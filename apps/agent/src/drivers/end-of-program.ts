import type { AgentProgram } from '@belay/protocol';

/** How a program ended. */
export interface EndOfProgram {
  code: number | null;
  signal: string | null;
  /** Set if it could not be started. */
  fault?: string;
}

/** The exit code of a shell or of `setpriv` for a program that is not there. */
export const notFoundExit = 127;

export const missingText = ({ title }: Pick<AgentProgram, 'title'>): string =>
  `The program of ${title} was not found in the sandbox. Choose an image that has it, or fix its command under Settings → Agents.`;
