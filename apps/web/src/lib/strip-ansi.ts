const sequences =
  // oxlint-disable-next-line no-control-regex -- escape sequences are what it finds
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[@-Z\\-_]|[ -/]+[0-~])/g;

/** Text of a terminal without escape sequences; a line that was overwritten shows its last state. */
export function stripAnsi(text: string): string {
  return text.replace(sequences, '').replaceAll('\r\n', '\n').split('\n').map(lastState).join('\n');
}

/** What a line shows in the end; carriage returns at its end overwrite nothing. */
function lastState(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end -= 1;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}
