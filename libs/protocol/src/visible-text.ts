/**
 * Text of a sandbox that is safe where it is shown as it is: control characters, which could move a cursor, set a
 * clipboard or change the direction of text, become visible signs. Line ends and tabs stay.
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

/** JSON in which the same signs are escapes, so that it means the same and shows nothing else. */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(
    hidden,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** DEL and C1, the signs of direction, and the separators that some terminals take for line ends. */
const hidden = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
