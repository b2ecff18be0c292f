import type { AgentProgram } from '@belay/protocol';

/** How a program ended. */
export interface ProgramEnd {
  code: number | null;
  signal: string | null;
  /** Set if it could not be started. */
  fault?: string;
}

/** The exit code of a shell or of `setpriv` for a program that is not there. */
export const notFoundExit = 127;

export const missingText = ({ title, name }: Pick<AgentProgram, 'title' | 'name'>): string =>
  `${title} is not installed on this server: \`belay agents install ${name}\`, or Settings → Agents.`;
