/**
 * Fuzzy search: words that contain the typed letters in order. Words that start with the text rank
 * first, then paths whose file name does, then words that contain it.
 */
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
