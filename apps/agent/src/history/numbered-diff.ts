import { maxHunks, type FileChange, type LineHunk } from '@belay/protocol';
import { toText } from '../files/lines.js';
import { gitPaths } from '../files/patch/parse-patch.js';

/** The changes in one file, for a reader that edits by line numbers. */
export interface NumberedDiff extends FileChange {
  /** Each line has its current number and a tab, then ` `, `+` or `-`; removed lines have no number. */
  text: string;
  /** Whether `text` contains all changes. */
  whole: boolean;
  hunks: LineHunk[];
}

const longestLine = 400;

/**
 * Parses the output of `git diff --full-index`, as text in latin1. `limit` is the approximate number of characters of
 * all texts.
 */
export function numberedDiffs(patch: string, limit: number): NumberedDiff[] {
  const diffs: NumberedDiff[] = [];
  let left = limit;
  for (const file of patch.split(/^(?=diff --git )/m)) {
    const diff = numbered(file.split('\n'), left);
    if (!diff) continue;
    left -= diff.text.length;
    diffs.push(diff);
  }
  return diffs;
}

function numbered(lines: readonly string[], limit: number): NumberedDiff | null {
  // For two blobs, the names are their ids.
  const path = gitPaths((lines[0] ?? '').slice('diff --git '.length))?.[1] ?? '';
  const index = lines.find((line) => line.startsWith('index '));
  const [, before, version] = /^index ([0-9a-f]{40})\.\.([0-9a-f]{40})/.exec(index ?? '') ?? [];
  if (before === undefined || version === undefined) return null;
  const first = lines.findIndex((line) => line.startsWith('@@ '));
  const { text, hunks, whole } = numberedHunks(first < 0 ? [] : lines.slice(first), limit);
  const isBinary = lines.some((line) => /^Binary files .* differ$/.test(line));
  return {
    path,
    before: versionIn(before),
    version: versionIn(version),
    text,
    whole: whole && !isBinary && hunks.length <= maxHunks,
    hunks,
  };
}

function numberedHunks(
  lines: readonly string[],
  limit: number,
): Pick<NumberedDiff, 'text' | 'whole' | 'hunks'> {
  const shown: string[] = [];
  const hunks: LineHunk[] = [];
  let number = 0;
  let size = 0;
  let whole = true;
  for (const line of lines) {
    const place = placeOf(line);
    if (place) {
      hunks.push(place.hunk);
      if (shown.length > 0) {
        shown.push('…');
        size += 2;
      }
      number = place.start;
      continue;
    }
    const sign = line[0] ?? '';
    if (sign !== ' ' && sign !== '+' && sign !== '-') continue;
    const text = toText(line.replace(/\r$/, ''));
    const entry = `${sign === '-' ? '' : number++}\t${text.slice(0, longestLine)}`;
    size += entry.length + 1;
    if (size > limit) {
      whole = false;
      break;
    }
    if (text.length > longestLine) whole = false;
    shown.push(entry);
  }
  return { text: shown.join('\n'), whole, hunks };
}

/** A hunk’s place before the change, and its first current line. Git counts from the line before an empty range. */
function placeOf(line: string): { hunk: LineHunk; start: number } | null {
  const match = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
  if (!match) return null;
  const [, at, removed = '1', start, added = '1'] = match;
  const hunk = {
    at: Number(at) + (removed === '0' ? 1 : 0),
    removed: Number(removed),
    added: Number(added),
  };
  return { hunk, start: Number(start) };
}

/** Git writes zeros for a missing file. */
const versionIn = (id: string): string | null => (/^0+$/.test(id) ? null : id.slice(0, 16));
