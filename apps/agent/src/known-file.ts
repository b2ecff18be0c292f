import type { LineHunk, ShownLines } from '@belay/protocol';

/** Lines of a file that a model has seen, by their numbers in the file as it is now. */
interface SeenLines extends ShownLines {
  /** The number with which `from` was last shown; null if another line was shown with it since, or if it had none. */
  readonly shownAs: number | null;
}

/** What a model has seen of a file. */
export interface KnownFile {
  readonly version: string;
  /** The lines that its last prompt showed, or an earlier one. */
  readonly lines: readonly SeenLines[];
  /** The changes by the calls of its current reply, in order: its numbers mean the file before them. */
  readonly changes: readonly (readonly LineHunk[])[];
}

type LineRange = Pick<ShownLines, 'from' | 'to'>;

const everyLine: ShownLines = { from: 1, to: Infinity };

/** A file that was shown or written as a whole. */
export const wholeFile = (version: string): KnownFile => ({
  version,
  lines: [{ ...everyLine, shownAs: 1 }],
  changes: [],
});

/** The known lines after some were shown: earlier ones still count if the file is unchanged. */
export function shownFile(
  before: KnownFile | undefined,
  version: string,
  parts: readonly ShownLines[] = [everyLine],
): KnownFile {
  const lines = before?.version === version ? before.lines : [];
  return { version, lines: parts.reduce(withShown, lines), changes: [] };
}

/**
 * The known lines after a change whose new lines count as seen. Without its places, it is unknown where the lines are
 * that were seen before.
 */
export function changedFile(
  before: KnownFile | undefined,
  version: string,
  hunks?: readonly LineHunk[],
): KnownFile {
  const lines = before?.lines ?? [];
  if (hunks) return { version, lines: movedLines(lines, hunks), changes: [] };
  const isWhole = knowsLines(lines, everyLine);
  return { version, lines: isWhole ? [{ ...everyLine, shownAs: null }] : [], changes: [] };
}

/** Whether all of these lines were shown as a whole, with whatever numbers. */
export const knowsLines = (lines: readonly SeenLines[], { from, to }: ShownLines): boolean =>
  covers(
    lines.filter(({ cut }) => !cut),
    { from, to },
  );

/** Whether all of these lines were last shown with the numbers that they have. */
export const knowsNumbers = (lines: readonly SeenLines[], { from, to }: ShownLines): boolean =>
  covers(
    lines.filter((part) => part.shownAs === part.from),
    { from, to },
  );

/** The lines that were last shown with these numbers, by the numbers that they have. */
export function shownWith(
  lines: readonly SeenLines[],
  { from, to }: ShownLines,
): { from: number; to: number }[] {
  return lines.flatMap((part) => {
    if (part.shownAs === null) return [];
    const moved = part.from - part.shownAs;
    const [first, last] = [Math.max(part.from, from + moved), Math.min(part.to, to + moved)];
    return first <= last ? [{ from: first, to: last }] : [];
  });
}

/** The seen lines as text. */
export const knownLines = (lines: readonly SeenLines[]): string =>
  joinedLines(lines)
    .slice(0, 10)
    .map(({ from, to }) => (to === Infinity ? `${from} to the end` : `${from}–${to}`))
    .join(', ');

/** The number of a line after changes; null if one of them replaced or removed it. */
export function carriedLine(line: number, changes: KnownFile['changes']): number | null {
  return carried(line, changes, ({ at, removed }, now) => {
    if (now < at) return 'before';
    return now < at + removed ? 'within' : 'after';
  });
}

/**
 * The line before which an insertion goes after changes; null if its place was within lines that one of them replaced
 * or removed. A later insertion at the same place follows the earlier one.
 */
export function carriedPlace(line: number, changes: KnownFile['changes']): number | null {
  return carried(line, changes, ({ at, removed }, now) => {
    if (now < at || (now === at && removed > 0)) return 'before';
    return now < at + removed ? 'within' : 'after';
  });
}

/** By how many lines changes have lengthened the file. */
export const growth = (hunks: readonly LineHunk[]): number =>
  hunks.reduce((sum, { added, removed }) => sum + added - removed, 0);

type Side = (hunk: LineHunk, line: number) => 'before' | 'within' | 'after';

/** The places of one change are all numbered as before it. */
function carried(line: number, changes: KnownFile['changes'], sideOf: Side): number | null {
  let now = line;
  for (const hunks of changes) {
    const sides = hunks.map((hunk) => ({ hunk, side: sideOf(hunk, now) }));
    if (sides.some(({ side }) => side === 'within')) return null;
    now += growth(sides.filter(({ side }) => side === 'after').map(({ hunk }) => hunk));
  }
  return now;
}

/** The positions of lines after a change, and its new lines. */
function movedLines(lines: readonly SeenLines[], hunks: readonly LineHunk[]): SeenLines[] {
  const moved: SeenLines[] = [];
  const added: ShownLines[] = [];
  let shift = 0;
  let next = 1;
  const keepUntil = (last: number) => {
    for (const part of lines) {
      const kept = within(part, next, last);
      if (kept) moved.push({ ...kept, from: kept.from + shift, to: kept.to + shift });
    }
  };
  for (const hunk of hunks) {
    const from = hunk.at + shift;
    keepUntil(hunk.at - 1);
    if (hunk.added > 0) added.push({ from, to: from + hunk.added - 1 });
    shift += hunk.added - hunk.removed;
    next = hunk.at + hunk.removed;
  }
  keepUntil(Infinity);
  return added.reduce(withShown, moved);
}

/** The lines with some that were shown now; no other line is known by their numbers any longer. */
function withShown(lines: SeenLines[] | readonly SeenLines[], shown: ShownLines): SeenLines[] {
  const { from, to } = shown;
  const isCut = shown.cut && !knowsLines(lines, shown);
  const others = lines
    .flatMap((part) => [within(part, 1, from - 1), within(part, to + 1, Infinity)])
    .filter((part) => part !== null);
  return [
    ...others.flatMap((part) => withoutNumbers(part, from, to)),
    { from, to, shownAs: from, ...(isCut && { cut: true as const }) },
  ].toSorted((a, b) => a.from - b.from);
}

function withoutNumbers(part: SeenLines, from: number, to: number): SeenLines[] {
  if (part.shownAs === null) return [part];
  const moved = part.from - part.shownAs;
  const taken = within(part, from + moved, to + moved);
  return [
    within(part, 1, from + moved - 1),
    taken && { ...taken, shownAs: null },
    within(part, to + moved + 1, Infinity),
  ].filter((one) => one !== null);
}

/** The part of seen lines in a range. */
function within(part: SeenLines, from: number, to: number): SeenLines | null {
  const [first, last] = [Math.max(part.from, from), Math.min(part.to, to)];
  if (first > last || first === Infinity) return null;
  const shownAs = part.shownAs === null ? null : part.shownAs + first - part.from;
  return { ...part, from: first, to: last, shownAs };
}

function covers(lines: readonly SeenLines[], { from, to }: ShownLines): boolean {
  let next = from;
  for (const part of lines.toSorted((a, b) => a.from - b.from)) {
    if (part.from > next) break;
    next = Math.max(next, part.to + 1);
  }
  return next > to;
}

/** Neighboring ranges as one, in order. */
export function joinedLines(lines: readonly LineRange[]): LineRange[] {
  const parts: { from: number; to: number }[] = [];
  for (const { from, to } of lines.toSorted((a, b) => a.from - b.from)) {
    const last = parts.at(-1);
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to);
    else parts.push({ from, to });
  }
  return parts;
}
