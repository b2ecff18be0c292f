import { z } from 'zod';
import {
  fileVersion,
  lineHunks,
  shownLines,
  type FileNews,
  type ShownLines,
} from '../file-version.js';

export const version = fileVersion.nullable().default(null);

export const written = z.object({
  path: z.string(),
  size: z.int().nonnegative().describe('The new size in bytes.'),
  lines: z.int().nonnegative().describe('The new number of lines; 0 for a binary file.'),
  version: version.describe('The new version.'),
});

/** The lines of an edit. */
export const changed = {
  hunks: lineHunks,
  now: z
    .string()
    .default('')
    .describe('The changed lines and two lines around them, with their new numbers.'),
  shown: z.array(shownLines).default([]).describe('The lines in `now`.'),
};
export const edited = written.extend(changed);

type Edited = Omit<z.output<typeof edited>, 'size' | 'lines'>;

/** The author of an edit knows its lines, and is shown those around it. */
export const newsOf = ({ path, version, hunks, shown }: Edited): FileNews[] =>
  version === null
    ? []
    : [
        { kind: 'changed', path, version, hunks },
        { kind: 'shown', path, version, parts: shown },
      ];

export const cutLines = (cuts: readonly { line: number; bytes: number }[]): string =>
  `${cuts.map(({ line: number, bytes }) => `line ${number} (${bytes} bytes)`).join(', ')}: use files.search, or a command such as jq or cut, for the rest.`;

/** A range of shown lines, without those that were cut, and each of these. */
export function shownParts(
  { from, to }: ShownLines,
  cuts: readonly { line: number }[],
): ShownLines[] {
  const parts: ShownLines[] = [];
  let next = from;
  for (const { line: number } of cuts) {
    if (number > next) parts.push({ from: next, to: number - 1 });
    parts.push({ from: number, to: number, cut: true });
    next = number + 1;
  }
  return next > to ? parts : [...parts, { from: next, to }];
}

/** Hunks that were found elsewhere than stated. */
export function offsetsIn(files: readonly { path: string; offsets: number[] }[]): {
  offsets?: string;
} {
  const moved = files.filter(({ offsets }) => offsets.some((offset) => offset !== 0));
  if (moved.length === 0) return {};
  return { offsets: moved.map(({ path, offsets }) => `${path}: ${offsets.join(', ')}`).join('; ') };
}
