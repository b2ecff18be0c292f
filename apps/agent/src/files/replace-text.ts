import { AppError, type LineHunk } from '@belay/protocol';
import { differingRun } from '../differing-run.js';
import { byteOrderMark, splitLines, toBytes, type ToBytes } from './lines.js';
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
  form: TextForm = { inBytes: toBytes, toText: (text) => text },
): Replaced | TextNotFound {
  const find = form.inBytes(replacement.find);
  const replace = form.inBytes(replacement.replace);
  if (find === replace) {
    throw new AppError(
      'invalid_input',
      '`find` and `replace` are the same text. Nothing was changed.',
    );
  }
  const [wanted, put] = bytes.includes(find)
    ? [find, replace]
    : [withCrLf(find), withCrLf(replace)];
  const places = occurrences(bytes, wanted);
  const fits = replacement.all ? places.length > 0 : places.length === replacement.count;
  if (!fits) return notFound(bytes, { ...replacement, find }, { places, form });
  const hunks = hunksOf(bytes, places, { wanted, put });
  return { bytes: bytes.split(wanted).join(put), replaced: places.length, hunks };
}

const withCrLf = (bytes: string): string => bytes.replace(/\r?\n/g, '\r\n');

/** As `split` counts them: without overlap. */
function occurrences(bytes: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + wanted.length)) {
    places.push(at);
  }
  return places;
}

interface Change {
  wanted: string;
  put: string;
}

/** The places of the changed lines; occurrences in the same lines are one place. */
function hunksOf(bytes: string, places: readonly number[], { wanted, put }: Change): LineHunk[] {
  const hunks: LineHunk[] = [];
  let line = 1;
  let counted = 0;
  let next = 0;
  while (next < places.length) {
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
    const run = differingRun(splitLines(old), splitLines(old.split(wanted).join(put)));
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
  places: number[];
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
