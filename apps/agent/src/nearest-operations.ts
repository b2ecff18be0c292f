import { comparableName, type Operation } from '@belay/protocol';
import { likeness } from './likeness.js';

const mostNamed = 3;
/** Names less similar than this (out of 1) are not suggested. */
const leastAlike = 0.34;
/** The minimum similarity in relation to the best match. */
const leastOfBest = 0.7;
/** Longer names from models are not misspellings. */
const longestName = 100;

/** The names of the operations that a model may have meant, best match first; at most three. */
export function nearestOperations(name: string, offered: readonly Operation[]): string[] {
  const given = name.slice(0, longestName);
  // Some models put `functions.` or a similar prefix before a tool's name.
  const forms = [given, given.split(/[./:]/).at(-1) ?? ''].map(comparableName);
  const known = offered.filter(({ knownAs }) =>
    knownAs.split(' ').some((alias) => forms.includes(alias)),
  );
  if (known.length > 0) return known.slice(0, mostNamed).map((operation) => operation.name);
  const likely = offered
    .map((operation) => ({ name: operation.name, like: similarity(given, operation) }))
    .sort((a, b) => b.like - a.like);
  const least = Math.max(leastAlike, (likely[0]?.like ?? 0) * leastOfBest);
  return likely
    .filter(({ like }) => like >= least)
    .slice(0, mostNamed)
    .map((operation) => operation.name);
}

/** The similarity of a name to an operation's names, from 0 to 1. */
const similarity = (given: string, { name, knownAs }: Operation): number =>
  Math.max(
    ...[name, ...knownAs.split(' ')].map((each) =>
      likeness(comparableName(given), comparableName(each)),
    ),
  );
