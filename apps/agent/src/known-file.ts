import type { FilePart, LineHunk } from '@belay/protocol';

type Lines = Pick<FilePart, 'from' | 'to'>;

/** What a model has seen of a file. */
export interface KnownFile {
  readonly version: string;
  /** The lines that it has seen of this version, in no order; null for the whole file. */
  readonly parts: readonly Lines[] | null;
  /** Lines of the file; unknown where all of it was seen. */
  readonly of?: number;
}

/** After a reading: earlier parts count as long as the file is the same. */
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
 * After a change by whoever has seen the file, or was shown it. With its places, the parts move as they do; without, the
 * change was in a part, and what it added is seen, too.
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

/** Where lines are after a change; all that stands in its places was shown. */
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

/** The lines that have been seen, in words. */
export const knownLines = ({ parts }: KnownFile): string =>
  (parts ?? [])
    .toSorted((a, b) => a.from - b.from)
    .slice(0, 10)
    .map(({ from, to }) => `${from}–${to}`)
    .join(', ');
