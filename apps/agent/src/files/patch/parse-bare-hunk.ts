import { AppError } from '@belay/protocol';
import { hunkLine, type PatchHunk } from './parse-hunk.js';

const endOfFile = '*** End of File';

/**
 * Reads a hunk without line numbers: `@@`, or `@@` and a preceding line of the file; several nested ones are possible.
 * It ends where the next hunk or file begins.
 */
export function parseBareHunk(
  lines: readonly string[],
  start: number,
): { hunk: PatchHunk; next: number } {
  const hunk: PatchHunk = { start: null, anchors: [], atEnd: false, lines: [] };
  let at = start;
  for (; (lines[at] ?? '').startsWith('@@'); at++) {
    const anchor = (lines[at] ?? '').replace(/^@@|@@\s*$/g, '').trim();
    if (anchor !== '') hunk.anchors.push(anchor);
  }
  let blanks = 0;
  for (; at < lines.length && !endsHunk(lines, at); at++) {
    const text = lines[at] ?? '';
    const line = hunkLine(text);
    if (!line) {
      throw new AppError(
        'invalid_input',
        `Line ${at + 1} of the patch does not begin with a space, + or -: ${text.slice(0, 80)}. Nothing was changed.`,
      );
    }
    blanks = text === '' || text === '\r' ? blanks + 1 : 0;
    hunk.lines.push(line);
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
