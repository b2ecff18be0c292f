import { shownParts, type LineHunk, type ShownLines } from '@belay/protocol';
import { joinedLines } from '../known-file.js';
import { withoutEnd } from './lines.js';

/** Lines around a place that are shown with it. */
const around = 2;
/** A longer run of lines is shown without its middle. */
const longestRun = { lines: 24, ends: 8 };
/** Characters. */
const longestLine = 300;
const longestExcerpt = 6_000;

/** Lines of a file, each with its number and a tab, and which lines these are. */
export interface Excerpt {
  text: string;
  /** Those that are shown as a whole. The middle of a long run of new lines is known to their author. */
  lines: ShownLines[];
}

type Range = Pick<ShownLines, 'from' | 'to'>;

/** The new lines of a change, and two lines around each place, as long as there is space. */
export function excerptOf(
  lines: readonly string[],
  hunks: readonly LineHunk[],
  toText: (bytes: string) => string,
): Excerpt {
  let shift = 0;
  const places = hunks.map(({ at, removed, added }) => {
    const from = at + shift;
    shift += added - removed;
    return { from, to: from + added - 1 };
  });
  return numberedLines(lines, places, toText);
}

/** The lines at these places, which may be empty, and two lines around each. */
export function numberedLines(
  lines: readonly string[],
  places: readonly Range[],
  toText: (bytes: string) => string,
): Excerpt {
  const excerpt: Excerpt = { text: '', lines: [] };
  for (const range of merged(places, lines.length)) {
    const shown = inRange(range).map((number) => entry(number, lines, toText));
    const text = shown.map((one) => one.text).join('\n');
    const separator = excerpt.text === '' ? '' : '\n…\n';
    if (excerpt.text.length + text.length > longestExcerpt) break;
    excerpt.text += separator + text;
    const cuts = shown.flatMap(({ cut }) => (cut === null ? [] : [{ line: cut }]));
    excerpt.lines.push(...shownParts(range, cuts));
  }
  return excerpt;
}

interface Entry {
  text: string;
  /** The number of a line that is not shown as a whole. */
  cut: number | null;
}

function entry(
  number: number | null,
  lines: readonly string[],
  toText: (bytes: string) => string,
): Entry {
  if (number === null) return { text: '…', cut: null };
  const line = toText(withoutEnd(lines[number - 1] ?? ''));
  if (line.length <= longestLine) return { text: `${number}\t${line}`, cut: null };
  return { text: `${number}\t${line.slice(0, longestLine).toWellFormed()}…`, cut: number };
}

/** The numbers to show; null for those left out in the middle. */
function inRange({ from, to }: Range): (number | null)[] {
  const numbers = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index);
  if (to - from < longestRun.lines) return numbers(from, to);
  return [
    ...numbers(from, from + longestRun.ends - 1),
    null,
    ...numbers(to - longestRun.ends + 1, to),
  ];
}

/** The places with the lines around them, without those outside of the file. */
const merged = (places: readonly Range[], length: number): Range[] =>
  joinedLines(
    places
      .map(({ from, to }) => ({
        from: Math.max(1, from - around),
        to: Math.min(length, to + around),
      }))
      .filter(({ from, to }) => from <= to),
  );
