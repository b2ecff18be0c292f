import { excerpt, numberText, type AgentProgram } from '@belay/protocol';
import { missingText, notFoundExit, type EndOfProgram } from '../end-of-program.js';

/** Why a program is gone, and what to do. */
export function programEndText(
  { title }: Pick<AgentProgram, 'title'>,
  { code, signal, fault }: EndOfProgram,
  lastLine: string,
): string {
  if (fault !== undefined || code === notFoundExit) return missingText({ title });
  const how = code === null ? `was ended by ${signal ?? 'a signal'}` : `ended (exit ${code})`;
  return `${title} ${how}${lastLine ? `: ${lastLine}` : '.'}`;
}

export const faultText = (title: string, fault: string): string =>
  excerpt(`${title} sent a message that ${fault}. Such messages are skipped.`, 300);

export const breachText = (title: string, messages: number): string =>
  `${title} was ended because it sent ${numberText(messages)} messages that are not valid. Choose another version under Settings → Agents.`;

export const invalidAnswerText = (title: string): string =>
  `${title} gave an answer that is not one of ACP. Choose another version under Settings → Agents.`;

export const noAnswerText = (title: string, seconds: number): string =>
  `${title} did not speak ACP: it has not answered for ${seconds} s. Choose another version under Settings → Agents.`;

export const notOpenedText = (title: string, seconds: number): string =>
  `${title} was ended because it has not opened its conversation for ${seconds} s. Send a message to try again, or choose another version under Settings → Agents.`;

export const notChosenText = (title: string, seconds: number): string =>
  `${title} has not answered for ${seconds} s. It is set when the program starts again.`;

export const loginText = (title: string): string =>
  `${title} asks for a login although it has the gateway: it did not take its settings. Install it again under Settings → Agents.`;

/** A text of the program without the token that it was given. */
export const withoutToken = (text: string, { token }: Pick<AgentProgram, 'token'>): string =>
  text.replaceAll(token, '•••');
