const mostLines = 30;
const mostCharacters = 4_000;

/** The prompt that the agent's shell would show; `home` is written as `~`. */
export function promptText(directory: string, home: string): string {
  const inside = directory === home || directory.startsWith(`${home}/`);
  const short = inside ? `~${directory.slice(home.length)}` : directory;
  return `\x1b[0m\x1b[36m${printable(short)}\x1b[0m $ `;
}

/** A command as it would look when typed at the prompt. */
export function typedText(command: string): string {
  const lines = printable(command.trimEnd().slice(0, mostCharacters)).split('\n');
  const shown = lines.slice(0, mostLines);
  const cut = command.trimEnd().length > mostCharacters || lines.length > mostLines;
  return `${shown.join('\r\n> ')}${cut ? `\r\n> … (${command.length} characters)` : ''}\r\n`;
}

/** Control characters in caret notation, so that they have no effect. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\0-\x09\x0b-\x1f\x7f]/g, (character) =>
    character === '\t' ? '    ' : `^${String.fromCharCode(character.charCodeAt(0) ^ 64)}`,
  );
}

/** Shown with a command’s result if another process than the shell reported an exit code. */
export function disputeText(status: number): string {
  return `\r\n[a program reported another exit code or directory in the place of the shell; ${status} is taken]\r\n`;
}
