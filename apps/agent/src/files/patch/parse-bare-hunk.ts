import { AppError } from '@belay/protocol';
import type { Hunk } from './parse-hunk.js';

const endOfFile = '*** End of File';

/**
 * Reads a hunk that names no line numbers: `@@`, or `@@` and a line of the file that stands above it; several of them
 * for one inside the other. It ends where the next hunk or file begins.
 */
export function readBareHunk(
  lines: readonly string[],
  start: number,
): { hunk: Hunk; next: number } {
  const hunk: Hunk = { start: null, anchors: [], atEnd: false, lines: [] };
  let at = start;
  for (; (lines[at] ?? '').startsWith('@@'); at++) {
    const anchor = (lines[at] ?? '').replace(/^@@|@@\s*$/g, '').trim();
    if (anchor !== '') hunk.anchors.push(anchor);
  }
  let blanks = 0;
  for (; at < lines.length && !endsHunk(lines, at); at++) {
    const line = lines[at] ?? '';
    const blank = line === '' || line === '\r';
    const kind = blank ? ' ' : line[0];
    if (kind !== ' ' && kind !== '-' && kind !== '+') {
      throw new AppError(
        'invalid_input',
        `Line ${at + 1} of the patch begins with none of space, + and -: ${line.slice(0, 80)}. Nothing was changed.`,
      );
    }
    blanks = blank ? blanks + 1 : 0;
    hunk.lines.push({ kind, text: `${blank ? line : line.slice(1)}\n` });
  }
  if ((lines[at] ?? '').trimEnd() === endOfFile) {
    hunk.atEnd = true;
    at++;
  }
  // Empty lines before the next hunk or file separate it.
  hunk.lines.splice(hunk.lines.length - blanks);
  return { hunk, next: at };
}

function endsHunk(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  const beginsPlain = line.startsWith('--- ') && (lines[at + 1] ?? '').startsWith('+++ ');
  return /^(?:@@|\*\*\* |diff --git )/.test(line) || beginsPlain;
}
