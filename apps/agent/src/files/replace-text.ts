import { AppError, type LineHunk } from '@belay/protocol';
import { differingRun } from '../differing-run.js';
import { byteOrderMark, splitLines, type ToBytes } from './lines.js';
import { nearestText } from './nearest-text.js';
import { numberedLines, type Excerpt } from './numbered-excerpt.js';

export interface Replacement {
  path: string;
  find: string;
  replace: string;
  count: number;
  all: boolean;
}

/** How a file’s bytes become text, and back. */
export interface TextForm {
  inBytes: ToBytes;
  toText(bytes: string): string;
  /** Whether an offset in bytes is within a character, given an earlier one where a character begins. */
  splits(bytes: string, place: { at: number; known: number }): boolean;
}

export interface Replaced {
  bytes: string;
  replaced: number;
  hunks: LineHunk[];
}

/** An exact text does not occur as often as its caller said. */
export class TextNotFound {
  constructor(
    readonly sentence: string,
    /** The lines that are shown with the sentence. */
    readonly excerpt: Excerpt,
  ) {}
}

/**
 * The file’s bytes with an exact piece of text replaced. Text with LF ends that occurs only with CR LF is found too,
 * and its replacement then gets CR LF.
 */
export function replaceText(
  bytes: string,
  replacement: Replacement,
  form: TextForm,
): Replaced | TextNotFound {
  const find = form.inBytes(replacement.find);
  const replace = form.inBytes(replacement.replace);
  if (find === replace) {
    throw new AppError(
      'invalid_input',
      '`find` and `replace` are the same text. Nothing was changed.',
    );
  }
  const exact = { wanted: find, put: replace, places: occurrences(bytes, find, form) };
  const change = exact.places.length > 0 ? exact : inCrLf(bytes, exact, form);
  const { places } = change;
  const fits = replacement.all ? places.length > 0 : places.length === replacement.count;
  if (!fits) return notFound(bytes, { ...replacement, find }, { places, form });
  return { bytes: changed(bytes, change), replaced: places.length, hunks: hunksOf(bytes, change) };
}

/** A text that replaces another one at these offsets, from the first to the last. */
interface Change {
  wanted: string;
  put: string;
  places: readonly number[];
}

/** The same change of text with CR LF ends. */
function inCrLf(bytes: string, { wanted: find, put }: Change, form: TextForm): Change {
  const wanted = withCrLf(find);
  return { wanted, put: withCrLf(put), places: occurrences(bytes, wanted, form) };
}

const withCrLf = (bytes: string): string => bytes.replace(/\r?\n/g, '\r\n');

/** Without overlap, and only where a character begins. */
function occurrences(bytes: string, wanted: string, { splits }: TextForm): number[] {
  const places: number[] = [];
  let known = 0;
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, known)) {
    const isPlace = !splits(bytes, { at, known });
    if (isPlace) places.push(at);
    known = at + (isPlace ? wanted.length : 1);
  }
  return places;
}

function changed(bytes: string, { wanted, put, places }: Change): string {
  const ends = [0, ...places.map((at) => at + wanted.length)];
  return ends.map((from, index) => bytes.slice(from, places[index])).join(put);
}

/** The places of the changed lines; occurrences in the same lines are one place. */
function hunksOf(bytes: string, { wanted, put, places }: Change): LineHunk[] {
  const hunks: LineHunk[] = [];
  let line = 1;
  let counted = 0;
  let next = 0;
  while (next < places.length) {
    const from = next;
    const first = places[next] ?? 0;
    const start = first === 0 ? 0 : bytes.lastIndexOf('\n', first - 1) + 1;
    let end = start;
    do {
      end = endOfLine(bytes, (places[next] ?? 0) + wanted.length);
      next++;
    } while (next < places.length && (places[next] ?? 0) < end);
    line += linesIn(bytes.slice(counted, start));
    counted = start;
    const old = bytes.slice(start, end);
    const within = places.slice(from, next).map((at) => at - start);
    const run = differingRun(
      splitLines(old),
      splitLines(changed(old, { wanted, put, places: within })),
    );
    if (run) hunks.push({ at: line + run.line - 1, removed: run.removed, added: run.added.length });
  }
  return hunks;
}

/** The offset after the line at an offset. */
function endOfLine(bytes: string, offset: number): number {
  const end = bytes.indexOf('\n', offset);
  return end < 0 ? bytes.length : end + 1;
}

const linesIn = (bytes: string): number => bytes.split('\n').length - 1;

interface Search {
  places: readonly number[];
  form: TextForm;
}

function notFound(
  bytes: string,
  { path, find, count }: Replacement,
  { places, form }: Search,
): TextNotFound {
  const body = bytes.startsWith(byteOrderMark) ? bytes.slice(byteOrderMark.length) : bytes;
  const lines = splitLines(body);
  if (places.length > 0) {
    const numbers = places.slice(0, 20).map((at) => lineAt(bytes, at));
    const more = places.length > numbers.length ? ', …' : '';
    return new TextNotFound(
      `The text occurs ${times(places.length)} in ${path}, not ${times(count)}: at ${numbers.length === 1 ? 'line' : 'lines'} ${numbers.join(', ')}${more}. Nothing was changed; give more of the text around it, the count, or \`all\`.`,
      { text: '', lines: [] },
    );
  }
  const near = nearestText(lines, splitLines(find));
  const begin = `The text does not occur in ${path}. Nothing was changed.`;
  if (!near) return new TextNotFound(begin, { text: '', lines: [] });
  const excerpt = numberedLines(lines, [near], form.toText);
  const where = near.from === near.to ? `Line ${near.from}` : `Lines ${near.from}–${near.to}`;
  const differs = near.from === near.to ? 'differs' : 'differ';
  const what = near.inSpaces
    ? `${where} ${differs} only in whitespace`
    : `The nearest text is at ${where.toLowerCase()}`;
  return new TextNotFound(`${begin} ${what}; copy what you mean from here:`, excerpt);
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

const lineAt = (bytes: string, at: number): number => splitLines(bytes.slice(0, at + 1)).length;
