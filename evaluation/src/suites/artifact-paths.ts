import type { ArtifactPath } from '../model.js';

/** The folder that Harbor always collects. */
export const publishedArtifacts: ArtifactPath = { path: '/logs/artifacts', exclude: [] };

/** Whether a file belongs to a declared artifact, by its absolute path. */
export function isInArtifact({ path: root, exclude }: ArtifactPath, path: string): boolean {
  if (path === root) return true;
  const below = root === '/' ? root : `${root}/`;
  return path.startsWith(below) && !isExcluded(path.slice(below.length), exclude);
}

/** Whether a path, or a folder above it, matches one of the patterns. */
const isExcluded = (path: string, exclude: string[]): boolean =>
  exclude.some((glob) => patternOf(glob).test(`./${path}`));

/** Whether `tar --exclude` has such a pattern; one with an open bracket or a wrong range is none. */
export function isExcludePattern(glob: string): boolean {
  try {
    return Boolean(patternOf(glob));
  } catch {
    return false;
  }
}

/**
 * Matches `./PATH` as `tar --exclude` does: from the start of any of its parts to the end of one,
 * and `*` also matches slashes. What is between two `*` has a fixed length, so its first match is
 * the best one; lookaheads keep it, so that the time is linear in the length of a path.
 */
function patternOf(glob: string): RegExp {
  const pieces = glob
    .replace(/\[[^\]]*\]|\*+/g, (each) => (each.startsWith('*') ? '\0' : each))
    .split('\0')
    .map(withoutStars);
  const last = pieces.pop() ?? '';
  const [first, ...more] = pieces;
  if (first === undefined) return new RegExp(`(?:^|/)${last}(?:/|$)`, 's');
  const kept = [`(?:^|/)${first}`, ...more].map((each, at) => `(?=(.*?${each}))\\${at + 1}`);
  return new RegExp(`^${kept.join('')}.*?${last}(?:/|$)`, 's');
}

const withoutStars = (glob: string): string =>
  glob
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('?', '.')
    .replaceAll('[!', '[^');
