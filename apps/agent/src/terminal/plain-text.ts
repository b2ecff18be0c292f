import { Screen } from './screen.js';
import type { Tape } from './tape.js';

/** Longer stretches are rendered from both ends only. */
const renderable = 512 * 1024;

export interface OutputText {
  text: string;
  omittedBytes: number;
  from: number;
  to: number;
}

/**
 * A stretch of a terminal as text for a model: escape sequences worked off, the middle left out when it is longer than
 * `limit` bytes. `from` and `to` are exact; a character that is cut in two at the end waits for the next reading.
 */
export function outputText(
  tape: Tape,
  range: { from: number; to: number; limit: number; rows: number },
): OutputText {
  const from = Math.min(Math.max(range.from, tape.start), tape.end);
  const whole = Math.min(Math.max(range.to, from), tape.end);
  const lost = Math.max(0, Math.min(tape.start, range.to) - range.from);
  if (whole - from <= renderable) {
    const bytes = tape.slice(from, whole);
    const length = range.to >= tape.end ? completeLength(bytes) : bytes.length;
    const shortened = shorten(plainText(bytes.subarray(0, length), range.rows), range.limit, lost);
    return { ...shortened, from: Math.min(range.from, from), to: from + length };
  }
  const half = renderable / 2;
  const head = tape.slice(from, from + half);
  const tail = tape.slice(whole - half, whole);
  const omitted = whole - from - renderable;
  const first = plainText(head.subarray(0, completeLength(head)), range.rows);
  const last = plainText(tail.subarray(incompleteStart(tail)), range.rows);
  const shortened = shorten(`${first}${last}`, range.limit, lost + omitted);
  return { ...shortened, from: Math.min(range.from, from), to: whole };
}

/** Terminal output as the text that a person would read in the end. */
export function plainText(bytes: Uint8Array, rows: number): string {
  const text = new TextDecoder().decode(bytes).replaceAll('\r\n', '\n');
  // oxlint-disable-next-line no-control-regex
  if (!/[\0-\x08\x0b-\x1f\x7f]/.test(text)) return text;
  const screen = new Screen(rows);
  screen.write(text.replaceAll('\n', '\r\n'));
  return screen.toString();
}

/** How many bytes remain when a character that is cut in two at the end is left out. */
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

function shorten(
  text: string,
  limit: number,
  already: number,
): { text: string; omittedBytes: number } {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit && already === 0) return { text, omittedBytes: 0 };
  const half = Math.floor(Math.min(limit, bytes.length) / 2);
  const head = bytes.subarray(0, half);
  const tail = bytes.subarray(bytes.length - half);
  const first = head.subarray(0, completeLength(head));
  const last = tail.subarray(incompleteStart(tail));
  const omittedBytes = already + bytes.length - first.length - last.length;
  return {
    text: `${first.toString()}\n… ${omittedBytes} bytes left out …\n${last.toString()}`,
    omittedBytes,
  };
}
