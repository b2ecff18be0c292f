import type { z } from 'zod';

/** A text on one line without invisible characters; `sentence` says so for the error. */
export const visibleLine = (text: z.ZodString, sentence: string): z.ZodString =>
  text.regex(shown, sentence).refine((line) => !/\p{C}/u.test(line), sentence);

/** The part of the rule that every language’s expressions can state, for published schemas. */
const shown =
  // oxlint-disable-next-line no-control-regex
  /^[^\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$/;

/**
 * Text from a sandbox that is safe to show unescaped: control characters, which could move a cursor, set a clipboard
 * or change the direction of text, become visible symbols. Line ends and tabs are kept.
 */
export function visibleText(text: string): string {
  return (
    text
      .replaceAll('\r\n', '\n')
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/[\u0000-\u0008\u000b-\u001f]/g, (sign) =>
        String.fromCharCode(0x2400 + sign.charCodeAt(0)),
      )
      .replaceAll(hidden, '\ufffd')
  );
}

/** JSON in which the same characters are escaped, so that its meaning is unchanged and nothing is hidden. */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(
    hidden,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** DEL and C1, direction marks, and the separators that some terminals treat as line ends. */
const hidden = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
