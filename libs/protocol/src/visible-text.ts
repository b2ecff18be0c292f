import type { z } from 'zod';
import { hiddenCharacters, isJoinerAt } from './hidden-characters.js';

/** A text on one line without invisible characters; `sentence` says so for the error. */
export const visibleLine = (text: z.ZodString, sentence: string): z.ZodString =>
  text.regex(shown, sentence).refine((line) => !/\p{C}/u.test(line), sentence);

/** The part of the rule that every language’s expressions can state, for published schemas. */
const shown =
  // oxlint-disable-next-line no-control-regex
  /^[^\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$/;

/**
 * Text from a sandbox, a model or another user that is safe to show: characters that are invisible, change the order of
 * other text, move a cursor or set a clipboard become visible. Line ends and tabs are kept, and so are the joiners that
 * emoji and some scripts need.
 */
export function visibleText(text: string): string {
  const whole = withLineFeeds(text);
  if (whole.search(hiddenCharacters) < 0) return whole;
  return partsOf(whole)
    .map((part) => part.text)
    .join('');
}

/** A piece of text as it is shown; `stands` if it takes the place of a character that is not. */
export interface VisiblePart {
  text: string;
  stands: boolean;
}

/** The same text in pieces, so that a page can tell a replaced character from the same letters in the text itself. */
export const visibleParts = (text: string): VisiblePart[] => partsOf(withLineFeeds(text));

/** Of a text with line feeds alone: replacing line ends again would hide a carriage return before one. */
function partsOf(whole: string): VisiblePart[] {
  const parts: VisiblePart[] = [];
  let end = 0;
  for (const { 0: sign, index } of whole.matchAll(hiddenCharacters)) {
    if (isJoinerAt(whole, index)) continue;
    if (index > end) parts.push({ text: whole.slice(end, index), stands: false });
    parts.push({ text: symbolOf(sign), stands: true });
    end = index + sign.length;
  }
  if (end < whole.length) parts.push({ text: whole.slice(end), stands: false });
  return parts;
}

const withLineFeeds = (text: string): string => text.replaceAll('\r\n', '\n');

/** JSON in which the same characters are escaped, so that its meaning is unchanged and nothing is hidden. */
export function visibleJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent);
  return json.replaceAll(hiddenCharacters, (sign, index: number) =>
    isJoinerAt(json, index) ? sign : escaped(sign),
  );
}

/** A symbol for C0, else the number: `␛`, `<U+202E>`. */
function symbolOf(sign: string): string {
  const code = sign.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

const escaped = (sign: string): string =>
  sign
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
