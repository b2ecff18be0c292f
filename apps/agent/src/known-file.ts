import type { FilePart, LineHunk } from '@belay/protocol';

type Lines = Pick<FilePart, 'from' | 'to'>;

/** The parts of a file that a model has seen. */
export interface KnownFile {
  readonly version: string;
  /** The lines of this version that it has seen, in any order; null for the whole file. */
  readonly parts: readonly Lines[] | null;
  /** The number of lines in the file; undefined if all of it was seen. */
  readonly of?: number;
}

/** The known parts after a read: earlier parts still count if the file is unchanged. */
export function shownFile(
  before: KnownFile | undefined,
  version: string,
  part?: FilePart,
): KnownFile {
  const same = before?.version === version ? before : undefined;
  if (!part || same?.parts === null) return { version, parts: null };
  const { from, to, of } = part;
  const parts = [...(same?.parts ?? []), { from, to }];
  const file = { version, parts, of };
  return knowsLines(file, 1, of) ? { version, parts: null } : file;
}

/**
 * The known parts after a change by a reader who had seen the file, or who was shown the change. With its places, the
 * parts move accordingly; without, the change was within a part, whose new text counts as seen.
 */
export function changedFile(
  before: KnownFile | undefined,
  version: string,
  { lines, hunks }: { lines?: number | undefined; hunks?: readonly LineHunk[] | undefined } = {},
): KnownFile {
  if (!before?.parts) return { version, parts: null };
  if (hunks) {
    const grown = hunks.reduce((sum, { added, removed }) => sum + added - removed, 0);
    return { version, of: (before.of ?? 0) + grown, parts: movedParts(before.parts, hunks) };
  }
  const of = lines ?? before.of ?? 0;
  const grown = of - (before.of ?? of);
  const parts = before.parts.map(({ from, to }) => ({ from, to: to + grown }));
  return { version, of, parts: parts.filter(({ from, to }) => to >= from) };
}

/** The positions of lines after a change, whose new lines were shown. */
function movedParts(parts: readonly Lines[], hunks: readonly LineHunk[]): Lines[] {
  const moved: Lines[] = [];
  let shift = 0;
  let next = 1;
  const keepUntil = (last: number) => {
    for (const part of parts) {
      const [from, to] = [Math.max(part.from, next), Math.min(part.to, last)];
      if (from <= to) moved.push({ from: from + shift, to: to + shift });
    }
  };
  for (const { at, removed, added } of hunks) {
    keepUntil(at - 1);
    if (added > 0) moved.push({ from: at + shift, to: at + shift + added - 1 });
    shift += added - removed;
    next = at + removed;
  }
  keepUntil(Infinity);
  return moved;
}

/** Whether all lines of a range have been seen. */
export function knowsLines({ parts }: KnownFile, from: number, to: number): boolean {
  if (parts === null) return true;
  let next = from;
  for (const part of parts.toSorted((a, b) => a.from - b.from)) {
    if (part.from > next) break;
    next = Math.max(next, part.to + 1);
  }
  return next > to;
}

/** The seen lines as text. */
export const knownLines = ({ parts }: KnownFile): string =>
  (parts ?? [])
    .toSorted((a, b) => a.from - b.from)
    .slice(0, 10)
    .map(({ from, to }) => `${from}–${to}`)
    .join(', ');
