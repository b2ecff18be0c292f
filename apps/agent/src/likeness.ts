/** How alike two texts are, from 0 to 1: Dice’s coefficient of their pairs of neighboring characters. */
export function likeness(a: string, b: string): number {
  const [some, others] = [pairs(a), pairs(b)];
  if (some.length === 0 || others.length === 0) return 0;
  const left = new Map<string, number>();
  for (const pair of others) left.set(pair, (left.get(pair) ?? 0) + 1);
  let common = 0;
  for (const pair of some) {
    const count = left.get(pair) ?? 0;
    if (count === 0) continue;
    left.set(pair, count - 1);
    common++;
  }
  return (2 * common) / (some.length + others.length);
}

const pairs = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - 1) }, (_, index) => text.slice(index, index + 2));
