import { visibleText } from '@belay/protocol';
import { errorPrefix, type ProcessEnd } from './evaluation-command.js';

const maxCharacters = 1_000;
/** Of a process that did not say why it failed, such as one that crashed. */
const shownLines = 3;

/** Why a process failed, in a sentence: its own, or how it ended with its last lines. */
export function failureReason({ code, signal, errors }: ProcessEnd): string {
  const lines = errors
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const own = lines.findLast((line) => line.startsWith(errorPrefix))?.slice(errorPrefix.length);
  if (own) return shown(own);
  const how = signal ? `was ended by ${signal}` : `ended with the exit code ${code}`;
  const last = lines.slice(-shownLines).join(' ');
  return shown(`Its process ${how}${last ? `: ${last}` : '.'}`);
}

const shown = (text: string): string => visibleText(text).slice(0, maxCharacters);
