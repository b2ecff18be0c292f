/** A word at the caret that asks for a completion: `/` at the very start, or `@` before a path. */
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

/** Puts the chosen word in place of the token; answers the new text and where the caret goes. */
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

/** Words with the letters that were typed, in order; those that begin with them (or whose file name does) first. */
export function matching(words: readonly string[], typed: string, limit = 8): string[] {
  const wanted = typed.toLowerCase();
  const rank = (word: string) => {
    const lower = word.toLowerCase();
    if (lower.startsWith(wanted)) return 0;
    if (lower.slice(lower.lastIndexOf('/') + 1).startsWith(wanted)) return 1;
    if (lower.includes(wanted)) return 2;
    return hasInOrder(lower, wanted) ? 3 : 4;
  };
  return words
    .map((word) => ({ word, rank: rank(word) }))
    .filter((each) => each.rank < 4)
    .toSorted((a, b) => a.rank - b.rank || a.word.length - b.word.length)
    .slice(0, limit)
    .map((each) => each.word);
}

function hasInOrder(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
