const sequences =
  // oxlint-disable-next-line no-control-regex -- escape sequences are what it finds
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[@-Z\\-_]|[ -/]+[0-~])/g;

/** Text of a terminal without escape sequences; a line that was overwritten shows its last state. */
export function plainText(text: string): string {
  return text
    .replace(sequences, '')
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.slice(line.replace(/\r+$/, '').lastIndexOf('\r') + 1).replace(/\r+$/, ''))
    .join('\n');
}
