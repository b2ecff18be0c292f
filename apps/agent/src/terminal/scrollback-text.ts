import { TextScreen } from './text-screen.js';
import { remaining, type Span } from './foreground-spans.js';
import type { Scrollback } from './scrollback.js';
import { withoutRepeats } from './without-repeats.js';

/** Only the beginning and the end of longer ranges are rendered. */
const renderable = 512 * 1024;

export interface ScrollbackText {
  text: string;
  omittedBytes: number;
  from: number;
  to: number;
}

/**
 * A range of a terminal’s output as text for a model: escape sequences are applied, and the middle is left out if it
 * is longer than `limit` bytes. `from` and `to` are exact; a character that is cut at the end is left to the next
 * read.
 */
export function scrollbackText(
  scrollback: Scrollback,
  range: { from: number; to: number; limit: number; rows: number; skipped?: readonly Span[] },
): ScrollbackText {
  const from = Math.min(Math.max(range.from, scrollback.start), scrollback.end);
  const whole = Math.min(Math.max(range.to, from), scrollback.end);
  const lost = Math.max(0, Math.min(scrollback.start, range.to) - range.from);
  const begin = Math.min(range.from, from);
  if (whole - from <= renderable) {
    const bytes = without(scrollback, { from, to: whole }, range.skipped);
    const length = range.to >= scrollback.end ? completeLength(bytes) : bytes.length;
    const text = screenText(bytes.subarray(0, length), range.rows);
    // Bytes that are not text may become three times as long as text, which is no reason to cut them.
    const limit = length <= range.limit ? 3 * range.limit : range.limit;
    return {
      ...joined(inTwo(text, limit), lost),
      from: begin,
      to: whole - (bytes.length - length),
    };
  }
  const half = renderable / 2;
  const head = without(scrollback, { from, to: from + half }, range.skipped);
  const tail = without(scrollback, { from: whole - half, to: whole }, range.skipped);
  const first = screenText(head.subarray(0, completeLength(head)), range.rows);
  const last = screenText(tail.subarray(incompleteStart(tail)), range.rows);
  const gap = whole - from - renderable;
  return {
    ...joined(fit({ head: first, gap, tail: last }, range.limit), lost),
    from: begin,
    to: whole,
  };
}

/** The bytes of a range, except for those that are skipped. */
function without(scrollback: Scrollback, span: Span, skipped: readonly Span[] = []): Buffer {
  const parts = remaining(span, skipped).map(({ from, to }) => scrollback.slice(from, to));
  const [only, ...more] = parts;
  return only && more.length === 0 ? only : Buffer.concat(parts);
}

/** Colours, and the erasing that follows them, which does nothing at the end of what was printed. */
// oxlint-disable-next-line no-control-regex
const colours = /\x1b\[[\d;:]*m|\x1b\[0?K/g;

/** Terminal output as the text that the screen finally shows. */
export function screenText(bytes: Uint8Array, rows: number): string {
  const text = new TextDecoder().decode(bytes).replaceAll('\r\n', '\n');
  const uncoloured = text.replaceAll(colours, '');
  // A screen has no blanks at the ends of its lines; printed text may, and a diff is about them.
  // oxlint-disable-next-line no-control-regex
  if (!/[\0-\x08\x0b-\x1f\x7f]/.test(uncoloured)) return uncoloured;
  const screen = new TextScreen(rows);
  screen.write(text.replaceAll('\n', '\r\n'));
  return screen.toString();
}

/** The number of bytes without a character that is cut at the end. */
export function completeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function incompleteStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0b1100_0000) === 0b1000_0000) start += 1;
  return start;
}

/** The text before and after the omitted part. */
interface Halves {
  head: string;
  /** Bytes between them. */
  gap: number;
  tail: string;
}

const inTwo = (text: string, limit: number): Halves => {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return { head: text, gap: 0, tail: '' };
  return fit({ head: text, gap: -bytes.length, tail: text }, limit);
};

/** Cuts the text before the gap at its end, and the text after it at its beginning. */
function fit({ head, gap, tail }: Halves, limit: number): Halves {
  const half = Math.floor(limit / 2);
  const [before, after] = [Buffer.from(head), Buffer.from(tail)];
  const first = before.subarray(0, Math.max(half, limit - after.length));
  const kept = first.subarray(0, first.length < before.length ? completeLength(first) : undefined);
  const second = after.subarray(Math.max(0, after.length - (limit - kept.length)));
  const last = second.subarray(second.length < after.length ? incompleteStart(second) : 0);
  return {
    head: kept.toString(),
    gap: gap + before.length - kept.length + after.length - last.length,
    tail: last.toString(),
  };
}

/** Marks omitted parts, including output at the beginning that the scrollback has lost. */
function joined(
  { head, gap, tail }: Halves,
  lost: number,
): Pick<ScrollbackText, 'text' | 'omittedBytes'> {
  const [first, last] = [withoutRepeats(head), withoutRepeats(tail)];
  const text = gap > 0 ? `${first}\n… ${gap} bytes left out …\n${last}` : first + last;
  const begin = lost > 0 ? `… ${lost} earlier bytes are no longer here …\n` : '';
  return { text: begin + text, omittedBytes: lost + gap };
}
