import { numberText } from './format.js';
/** The limits of free JSON from outside; `characters` counts texts, keys and a few for each value. */
export interface JsonBounds {
  readonly characters: number;
  readonly depth: number;
  readonly values: number;
}

/**
 * The limits of one event of an agent; larger data belongs in a blob or a file. They are far above the output of
 * honest operations, and so shallow that a recursive reader cannot overflow its stack.
 */
export const eventBounds: JsonBounds = { characters: 2 ** 20, depth: 64, values: 100_000 };

/** The number of characters that each text keeps in a record that is too large. */
export const maxShortText = 2_000;

/** The approximate number of characters in a number, a literal or a bracket. */
const perValue = 4;

/**
 * Why a value exceeds its bounds or is not JSON, as the end of a sentence; undefined if it is valid. Stops at the first
 * fault, and neither recurses nor builds a text, so its cost is bounded by the bounds whatever the value is.
 */
export function jsonFault(value: unknown, bounds: JsonBounds = eventBounds): string | undefined {
  let level: unknown[] = [value];
  let characters = 0;
  let values = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > bounds.depth) return `is nested deeper than ${bounds.depth} levels`;
    const below: unknown[] = [];
    for (const each of level) {
      values += 1;
      characters += typeof each === 'string' ? each.length : perValue;
      if (Array.isArray(each)) {
        const left = bounds.values - values - below.length;
        for (let at = 0; at < Math.min(each.length, left + 1); at++) below.push(each[at]);
      } else if (typeof each === 'object' && each !== null) {
        if (!isPlain(each)) return 'holds something that is not JSON';
        for (const [key, part] of Object.entries(each)) {
          characters += key.length;
          below.push(part);
        }
      } else if (!scalars.has(typeof each)) {
        return 'holds something that is not JSON';
      }
      if (characters > bounds.characters)
        return `has more than ${numberText(bounds.characters)} characters`;
      if (values + below.length > bounds.values)
        return `has more than ${numberText(bounds.values)} values`;
    }
    level = below;
  }
  return undefined;
}

const scalars: ReadonlySet<string> = new Set([
  'string',
  'number',
  'boolean',
  'undefined',
  'object',
]);

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** A copy for a record, in which texts of more than `most` characters are replaced by their beginning and length. */
export function withShortTexts(value: unknown, most: number): unknown {
  if (typeof value === 'string') {
    if (value.length <= most) return value;
    return `${excerpt(value, most)} (${numberText(value.length)} characters; the rest is not kept in the log)`;
  }
  if (Array.isArray(value)) return value.map((each) => withShortTexts(each, most));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, withShortTexts(each, most)]),
  );
}

/** The beginning of a text, followed by `…` if there is more. */
export function excerpt(text: string, most = 2_000): string {
  return text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text;
}

/** Counts brackets outside of strings in one pass over UTF-8 bytes, before a parser builds anything. */
export function isNestedDeeper(bytes: Uint8Array, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfText(bytes, at + 1);
    else if (byte === openArray || byte === openObject) depth += 1;
    else if (byte === closeArray || byte === closeObject) depth -= 1;
    if (depth > levels) return true;
  }
  return false;
}

const [quote, backslash] = [0x22, 0x5c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The end of the string that begins at `from`, or the end of the bytes. */
function endOfText(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === quote) return at;
    if (bytes[at] === backslash) at += 1;
  }
  return bytes.length;
}
