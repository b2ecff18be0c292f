const sequences =
  // oxlint-disable-next-line no-control-regex -- it matches escape sequences
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[@-Z\\-_]|[ -/]+[0-~])/g;

/**
 * Removes escape sequences from terminal output. Of overwritten lines only the last state is kept.
 */
export function stripAnsi(text: string): string {
  return text.replace(sequences, '').replaceAll('\r\n', '\n').split('\n').map(lastState).join('\n');
}

/** The text after the last carriage return, ignoring those at the end of the line. */
function lastState(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end -= 1;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}
