/** The part of a text that fits into this many terminal columns, and its width. */
export function fitting(text: string, columns: number): { text: string; columns: number } {
  let end = 0;
  let used = 0;
  for (const sign of text) {
    const width = widthOf(sign);
    if (used + width > columns) break;
    end += sign.length;
    used += width;
  }
  return { text: text.slice(0, end), columns: used };
}

/** Ends a text that is too wide with an ellipsis. */
export function truncated(text: string, columns: number): string {
  if (text.length * 2 <= columns || fitting(text, columns).text.length === text.length) return text;
  return `${fitting(text, columns - 1).text}…`;
}

/** Pads a text with spaces to this many columns, at its end or before it. */
export function padded(text: string, columns: number, before = false): string {
  const spaces = ' '.repeat(Math.max(0, columns - fitting(text, columns).columns));
  return before ? spaces + text : text + spaces;
}

/** East Asian characters and emoji are two columns wide, combining accents none. */
function widthOf(sign: string): number {
  if (/\p{Mn}/u.test(sign)) return 0;
  return wide.test(sign) ? 2 : 1;
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
