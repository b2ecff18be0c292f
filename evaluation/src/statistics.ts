/**
 * The unbiased estimate of pass@k for one problem: n samples, c of them correct (Chen et al. 2021).
 */
export function passAtK(n: number, c: number, k: number): number {
  if (n - c < k) return 1;
  let missed = 1;
  for (let i = n - c + 1; i <= n; i++) missed *= 1 - k / i;
  return 1 - missed;
}

/** Mean pass@k for every k that each problem has samples for. Empty when a problem has none. */
export function passAtEveryK(problems: { n: number; c: number }[]): Record<string, number> {
  const most = Math.min(...problems.map(({ n }) => n));
  if (problems.length === 0 || most < 1) return {};
  const score = (k: number) => mean(problems.map(({ n, c }) => passAtK(n, c, k)));
  return Object.fromEntries(
    Array.from({ length: most }, (_, index) => [`pass@${index + 1}`, round(score(index + 1))]),
  );
}

export const mean = (values: number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Wilson's 95% interval for a proportion. */
export function wilson(successes: number, n: number, z = 1.959963984540054): [number, number] {
  if (n === 0) return [0, 1];
  const share = successes / n;
  const spread = z * Math.sqrt((share * (1 - share) + (z * z) / (4 * n)) / n);
  const centre = share + (z * z) / (2 * n);
  const scale = 1 + (z * z) / n;
  return [Math.max(0, (centre - spread) / scale), Math.min(1, (centre + spread) / scale)];
}

/**
 * The mean of differences from -1 to 1 and its 95% interval, which has a width even if all are
 * equal: Wilson's intervals of the shares won and lost, combined by squares and with their
 * correlation (Newcombe 1998; Zou and Donner 2008). For differences that are not whole, it is wider
 * than necessary. Without any, nothing is known.
 */
export function pairedDifference(differences: number[]): {
  mean: number;
  interval: [number, number];
} {
  const n = differences.length;
  const won = mean(differences.map((each) => Math.max(each, 0)));
  const lost = mean(differences.map((each) => Math.max(-each, 0)));
  const [leastWon, mostWon] = wilson(won * n, n);
  const [leastLost, mostLost] = wilson(lost * n, n);
  const correlation = won > 0 && lost > 0 ? -Math.sqrt((won * lost) / ((1 - won) * (1 - lost))) : 0;
  const combined = (one: number, other: number) =>
    Math.sqrt(one ** 2 + other ** 2 - 2 * correlation * one * other);
  return {
    mean: won - lost,
    interval: [
      Math.max(-1, won - lost - combined(won - leastWon, mostLost - lost)),
      Math.min(1, won - lost + combined(mostWon - won, lost - leastLost)),
    ],
  };
}

/**
 * Two-sided exact sign test (McNemar's exact test): the probability of a split at least this uneven
 * if neither side is better.
 */
export function signTest(wins: number, losses: number): number {
  const n = wins + losses;
  let tail = 0;
  for (let i = 0, term = 0.5 ** n; i <= Math.min(wins, losses); i++) {
    tail += term;
    term = (term * (n - i)) / (i + 1);
  }
  return Math.min(1, 2 * tail);
}

/** A generator of numbers from 0 to 1 with a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A sample without replacement, in the original order. */
export function randomSample<T>(all: T[], count: number, seed: number): T[] {
  const random = seeded(seed);
  const ranked = all.map((value, index) => ({ value, index, rank: random() }));
  const chosen = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, count);
  return chosen.toSorted((a, b) => a.index - b.index).map(({ value }) => value);
}

const round = (value: number) => Math.round(value * 1e12) / 1e12;
