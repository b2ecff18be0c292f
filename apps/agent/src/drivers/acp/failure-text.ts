import type { AgentProgram } from '@belay/protocol';
import type { ProgramEnd } from '../program-process.js';

/** The exit code of a shell or of `setpriv` for a program that is not there. */
const notFound = 127;

/** Why a program is gone, and what to do. */
export function endText(
  { title, name }: Pick<AgentProgram, 'title' | 'name'>,
  { code, signal, fault }: ProgramEnd,
  lastLine: string,
): string {
  if (fault !== undefined || code === notFound)
    return `${title} is not installed on this server: \`belay agents install ${name}\`, or Settings → Agents.`;
  const how = code === null ? `was ended by ${signal ?? 'a signal'}` : `ended (exit ${code})`;
  return `${title} ${how}${lastLine ? `: ${lastLine}` : '.'}`;
}

export const noAnswerText = (title: string, seconds: number): string =>
  `${title} did not speak ACP: it has not answered for ${seconds} s. Choose another version under Settings → Agents.`;

export const loginText = (title: string): string =>
  `${title} asks for a login although it has the gateway: it did not take its settings. Install it again under Settings → Agents.`;
