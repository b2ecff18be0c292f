/**
 * How well a text matches what is typed, the best first: 0 it begins with that, 1 each typed word
 * begins a word of it, 2 it contains that. Undefined if it does not match.
 */
export function titleRank(text: string, typed: string): number | undefined {
  const lower = text.toLowerCase();
  const wanted = typed.trim().toLowerCase();
  if (lower.startsWith(wanted)) return 0;
  const words = wordsOf(lower);
  const begins = wordsOf(wanted);
  const isBegun = (begin: string) => words.some((word) => word.startsWith(begin));
  if (begins.length > 0 && begins.every(isBegun)) return 1;
  return lower.includes(wanted) ? 2 : undefined;
}

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];
