/** Shorter runs of equal lines are shown. */
const mostRepeats = 3;

/** Text with each long run of equal lines as one line and their number. */
export function withoutRepeats(text: string): string {
  const lines = text.split('\n');
  const shown: string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    let end = at + 1;
    while (end < lines.length && lines[end] === line) end++;
    const count = end - at;
    if (count <= mostRepeats) shown.push(...lines.slice(at, end));
    else shown.push(line, `… the same line ${count - 1} more times …`);
    at = end;
  }
  return shown.join('\n');
}
