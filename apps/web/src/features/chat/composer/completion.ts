/** A word at the caret to be completed: after `/` at the start of the text, or a path after `@`. */
export interface Token {
  sign: '/' | '@';
  text: string;
  start: number;
}

export function tokenAt(text: string, caret: number): Token | null {
  const found = /(?:^|\s)([/@])(\S*)$/.exec(text.slice(0, caret));
  if (!found) return null;
  const [, sign, word = ''] = found;
  const start = caret - word.length - 1;
  if (sign === '/' && start !== 0) return null;
  return { sign: sign === '/' ? '/' : '@', text: word, start };
}

/** Replaces the token with the chosen word; returns the new text and the caret’s position. */
export function complete(
  text: string,
  token: Token,
  chosen: string,
): { text: string; caret: number } {
  const word = `${token.sign}${chosen} `;
  const end = token.start + 1 + token.text.length;
  const rest = text.slice(end).replace(/^ /, '');
  return { text: text.slice(0, token.start) + word + rest, caret: token.start + word.length };
}
