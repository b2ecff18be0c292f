/** Marks of quotes and lists, and indentation, at the start of a line. */
const containerPrefix = /(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*/y;

export function containerPrefixAt(text: string, at: number): string {
  containerPrefix.lastIndex = at;
  return containerPrefix.exec(text)?.[0] ?? '';
}

/**
 * Where the fenced code that begins with this line ends. `surely` is false for lines that may be code to one reader of
 * Markdown and not to another: of code in a quote or a list only what has an end and the same prefix in all its lines is
 * surely code. Undefined if no fence begins here.
 */
export function fenceAt(text: string, at: number): { end: number; surely: boolean } | undefined {
  const prefix = containerPrefixAt(text, at);
  fenceStart.lastIndex = at + prefix.length;
  const start = fenceStart.exec(text);
  const mark = start?.[1] ?? start?.[2];
  if (mark === undefined) return undefined;
  const belongs = linesOf(prefix);
  let line = nextLine(text, at);
  while (line < text.length) {
    const end = nextLine(text, line);
    const content = text.slice(line, end);
    if (!belongs(content)) return { end: line, surely: false };
    line = end;
    if (isFenceEnd(content, mark)) return { end, surely: true };
  }
  return { end: text.length, surely: prefix === '' };
}

const fenceStart = /(?:(`{3,})[^`\n]*|(~{3,})[^\n]*)(?:\n|$)/y;

/** Whether a line can be one of the code in a container with this prefix. */
function linesOf(prefix: string): (line: string) => boolean {
  if (prefix === '') return () => true;
  if (/^> ?$/.test(prefix)) return (line) => /^ {0,3}>/.test(line);
  if (/[>\t]/.test(prefix)) return () => false;
  return (line) => line.trim() === '' || line.slice(0, prefix.length).trim() === '';
}

function isFenceEnd(line: string, mark: string): boolean {
  const end = line.replace(/^[ >]*/, '').trimEnd();
  return end.startsWith(mark) && end === mark.charAt(0).repeat(end.length);
}

/** The start of the next line, or the end of the text. */
export function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}
