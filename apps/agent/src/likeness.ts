/** How alike two texts are, from 0 to 1: Dice’s coefficient of their pairs of neighboring characters. */
export const likeness = (a: string, b: string): number => likenessTo(b)(a);

/** The same for many texts that are compared with one. */
export function likenessTo(wanted: string): (text: string) => number {
  const size = Math.max(0, wanted.length - 1);
  const counts = new Map<string, number>();
  for (const pair of pairs(wanted)) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  return (text) => {
    if (size === 0 || text.length < 2) return 0;
    const used = new Map<string, number>();
    let common = 0;
    for (const pair of pairs(text)) {
      const count = used.get(pair) ?? 0;
      if (count >= (counts.get(pair) ?? 0)) continue;
      used.set(pair, count + 1);
      common++;
    }
    return (2 * common) / (text.length - 1 + size);
  };
}

const pairs = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - 1) }, (_, index) => text.slice(index, index + 2));
