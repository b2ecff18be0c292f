import { shellWord } from './shell-quoted.js';

/** A shell by its name alone or where systems have it: elsewhere, such a name may be any program. */
const shell = /^(?:\/bin\/|\/usr\/bin\/|\/usr\/local\/bin\/)?(?:ba|da|z)?sh$/;

/**
 * The command of another program’s call as one would type it, which rules match: a text, or a list of words, of which
 * exactly `bash -lc X` or `bash -c X` is X, with any common shell. Empty if it is neither, or if a word is not a text.
 */
export function shellLine(command: unknown): string {
  if (typeof command === 'string') return command;
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) return '';
  const [program = '', flag = '', script] = command;
  if (command.length === 3 && script !== undefined && shell.test(program) && /^-l?c$/.test(flag))
    return script;
  return command.map(shellWord).join(' ');
}
