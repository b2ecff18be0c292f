import { likenessTo } from '../likeness.js';

/** A place of a text that resembles another one. */
export interface NearestText {
  from: number;
  to: number;
  /** Whether it differs in spaces and tabs only. */
  inSpaces: boolean;
}

/** Larger files and texts are not compared line by line. */
const mostLines = 20_000;
const mostCompared = 5_000;
const longestLine = 500;
/** Lines less similar than this (out of 1) are not suggested. */
const leastAlike = 0.6;

/**
 * The lines that resemble a text the most: where most of its lines occur, spaces ignored, or else where a line is like
 * its longest one. Null if nothing is near.
 */
export function nearestText(lines: readonly string[], find: readonly string[]): NearestText | null {
  if (lines.length > mostLines || find.length > mostLines) return null;
  const [have, want] = [lines.map(squeeze), trimmed(find.map(squeeze))];
  if (want.length === 0) return null;
  const at = mostEqual(have, want) ?? mostAlike(have, want);
  if (at === null) return null;
  const inSpaces = want.every((line, index) => have[at + index] === line);
  const from = Math.max(1, at + 1);
  return { from, to: Math.max(from, Math.min(lines.length, at + want.length)), inSpaces };
}

/** The start that makes the most characters equal, line by line; null if no line is. */
function mostEqual(have: readonly string[], want: readonly string[]): number | null {
  const indexes = new Map<string, number[]>();
  for (const [index, line] of want.entries())
    if (line !== '') indexes.set(line, [...(indexes.get(line) ?? []).slice(0, 20), index]);
  const votes = new Map<number, number>();
  for (const [number, line] of have.entries())
    for (const index of indexes.get(line) ?? [])
      votes.set(number - index, (votes.get(number - index) ?? 0) + line.length);
  // A common line such as a brace does not make a place similar.
  const [best] = [...votes].sort(([a, m], [b, n]) => n - m || a - b);
  const whole = want.reduce((sum, line) => sum + line.length, 0);
  return best && best[1] >= Math.min(8, whole) ? best[0] : null;
}

function mostAlike(have: readonly string[], want: readonly string[]): number | null {
  const longest = want.reduce((a, b) => (b.length > a.length ? b : a));
  const likenessOf = likenessTo(longest.slice(0, longestLine));
  let best = { at: 0, like: 0 };
  for (const [at, line] of have.slice(0, mostCompared).entries()) {
    const like = likenessOf(line.slice(0, longestLine));
    if (like > best.like) best = { at, like };
  }
  return best.like < leastAlike ? null : best.at - want.indexOf(longest);
}

const squeeze = (line: string): string => line.trim().replace(/\s+/g, ' ');

/** Without empty lines at both ends. */
function trimmed(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line !== '');
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => line !== '') + 1);
}
