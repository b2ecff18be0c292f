import { z } from 'zod';
import { fileVersion, lineHunks, shownLines, type FileNews } from '../file-version.js';

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

/** Hunks that were found elsewhere than stated. */
export function offsetsIn(files: readonly { path: string; offsets: number[] }[]): {
  offsets?: string;
} {
  const moved = files.filter(({ offsets }) => offsets.some((offset) => offset !== 0));
  if (moved.length === 0) return {};
  return { offsets: moved.map(({ path, offsets }) => `${path}: ${offsets.join(', ')}`).join('; ') };
}
