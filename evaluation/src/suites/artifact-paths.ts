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
 * and `*` also matches slashes.
 */
const patternOf = (glob: string): RegExp =>
  new RegExp(
    `(?:^|/)${glob
      .replace(/[.+^${}()|\\]/g, '\\$&')
      .replace(/\*+/g, '.*')
      .replaceAll('?', '.')
      .replaceAll('[!', '[^')}(?:/|$)`,
    's',
  );
