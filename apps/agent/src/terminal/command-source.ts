import { shellQuoted } from '@belay/protocol';
import type { ShellKind } from './shell-script.js';

export interface CommandPlace {
  id: string;
  background: boolean;
  kind: ShellKind;
  /** The file of its standard input. */
  input: string | undefined;
}

/** Shell source that passes the next command to a shell’s loop. */
export function commandSource(text: string, place: CommandPlace): string {
  return `__belay_text=${shellQuoted(text)}\n__belay_source=${wrapped(place)}\n`;
}

/**
 * A word of shell source that evaluates the command’s text, with its input and place. In the background, a separate
 * subshell evaluates it, so that no command can replace or end the subshell that reports its exit code.
 */
function wrapped({ id, background, kind, input }: CommandPlace): string {
  if (background) {
    const [within, around] = kind === 'bash' ? quiet : ['', ''];
    const text = `( __belay_inside; eval "$__belay_text" )${within}`;
    const file = shellQuoted(input ?? '/dev/null');
    return shellQuoted(`{ __belay_outside; ${text}; __belay_ended ${id}; } <${file}${around} &`);
  }
  if (input === undefined) return '$__belay_text';
  return shellQuoted(`eval "$__belay_text" <${shellQuoted(input)}`);
}

/** Bash would print the source around a command that a signal ended; the command’s own standard error still works. */
const quiet = [' 2>&40 40>&-', ' 40>&2 2>/dev/null'];
