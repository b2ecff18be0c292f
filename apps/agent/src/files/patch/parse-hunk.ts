import { AppError } from '@belay/protocol';

/** Lines of one hunk with their ends, as byte strings. */
export interface PatchHunk {
  /** The index of the first old line as stated in the patch; null if it states none. */
  start: number | null;
  /** Preceding lines of the file that locate the hunk, outermost first. */
  anchors: string[];
  /** The hunk states that it is at the end of the file. */
  atEnd: boolean;
  lines: HunkLine[];
}

interface HunkLine {
  kind: ' ' | '-' | '+';
  text: string;
}

export const oldLines = (hunk: PatchHunk): string[] =>
  hunk.lines.filter((line) => line.kind !== '+').map((line) => line.text);
export const newLines = (hunk: PatchHunk): string[] =>
  hunk.lines.filter((line) => line.kind !== '-').map((line) => line.text);

/**
 * Reads the hunk whose header is at `at`. Models miscount, so where the header’s counts differ from the lines, the
 * lines are used (`git apply --recount`).
 */
export function parseHunk(lines: readonly string[], at: number): { hunk: PatchHunk; next: number } {
  const { start, counts } = readHeader(lines[at] ?? '', at);
  const hunk: PatchHunk = { start, anchors: [], atEnd: false, lines: [] };
  let { old: oldLeft, new: newLeft } = counts;
  let next = at + 1;
  for (; next < lines.length; next++) {
    const text = lines[next] ?? '';
    if (text.startsWith('\\')) {
      openLastLine(hunk);
      continue;
    }
    const complete = oldLeft <= 0 && newLeft <= 0;
    if (complete && !goesOn(lines, next)) break;
    const line = hunkLine(text);
    if (!line || (!complete && beginsFile(lines, next) && oldLeft <= 0)) break;
    hunk.lines.push(line);
    if (line.kind !== '+') oldLeft--;
    if (line.kind !== '-') newLeft--;
  }
  return { hunk: dropBlankTail(hunk, oldLeft, newLeft), next };
}

/** A line of a hunk; null for anything else. Editors strip the space of an empty context line. */
export function hunkLine(line: string): HunkLine | null {
  if (line === '' || line === '\r') return { kind: ' ', text: `${line}\n` };
  const kind = line[0];
  const isLine = kind === ' ' || kind === '-' || kind === '+';
  return isLine ? { kind, text: `${line.slice(1)}\n` } : null;
}

function readHeader(header: string, at: number) {
  const match = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(header);
  if (!match) {
    throw new AppError(
      'invalid_input',
      `Line ${at + 1} of the patch is not a hunk header such as \`@@ -1,3 +1,4 @@\`: ${header.slice(0, 80)}`,
    );
  }
  const first = Number(match[1]);
  const counts = { old: Number(match[2] ?? 1), new: Number(match[3] ?? 1) };
  return { start: counts.old === 0 ? first : Math.max(first - 1, 0), counts };
}

/** Whether the line after the counted ones still belongs to the hunk. */
function goesOn(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  if (beginsFile(lines, at) || line === '-- ' || line === '--') return false;
  return line.startsWith('+') || line.startsWith('-') || line.startsWith(' ');
}

const beginsFile = (lines: readonly string[], at: number): boolean =>
  (lines[at] ?? '').startsWith('--- ') && (lines[at + 1] ?? '').startsWith('+++ ');

/** `\ No newline at end of file`: removes the end of the previous line. */
function openLastLine(hunk: PatchHunk): void {
  const last = hunk.lines.at(-1);
  if (last) last.text = last.text.slice(0, -1);
}

/** Removes blank lines at the end of a hunk with too few lines, because they only separate it from the next one. */
function dropBlankTail(hunk: PatchHunk, oldLeft: number, newLeft: number): PatchHunk {
  if (oldLeft <= 0 && newLeft <= 0) return hunk;
  while (hunk.lines.at(-1)?.kind === ' ' && hunk.lines.at(-1)?.text.trim() === '') hunk.lines.pop();
  return hunk;
}
