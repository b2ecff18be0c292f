import type { ArtifactPath } from '../model.js';

/** Whether a file belongs to a declared artifact, by its absolute path. */
export function isInArtifact({ path: root, exclude }: ArtifactPath, path: string): boolean {
  if (path === root) return true;
  const below = root === '/' ? root : `${root}/`;
  return path.startsWith(below) && !isExcluded(path.slice(below.length), exclude);
}

/**
 * Whether a path, or a folder above it, matches one of the patterns, as `tar --exclude` matches
 * them: from the start of any part of `./PATH`, and `*` also matches slashes.
 */
function isExcluded(path: string, exclude: string[]): boolean {
  if (exclude.length === 0) return false;
  const parts = ['.', ...path.split('/')];
  const candidates = parts.flatMap((_from, start) =>
    parts.slice(start).map((_to, end) => parts.slice(start, start + end + 1).join('/')),
  );
  return exclude.map(patternOf).some((pattern) => candidates.some((each) => pattern.test(each)));
}

/** Whether `tar --exclude` has such a pattern; one with an open bracket or a wrong range is none. */
export function isExcludePattern(glob: string): boolean {
  try {
    return Boolean(patternOf(glob));
  } catch {
    return false;
  }
}

const patternOf = (glob: string): RegExp =>
  new RegExp(
    `^${glob
      .replace(/[.+^${}()|\\]/g, '\\$&')
      .replace(/\*+/g, '.*')
      .replaceAll('?', '.')
      .replaceAll('[!', '[^')}$`,
    's',
  );
