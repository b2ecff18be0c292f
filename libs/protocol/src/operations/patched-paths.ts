import { unquotedName } from '../git-name.js';

/** Paths of the files that a patch changes. */
export const patchedPaths = (patch: string): string[] => [
  ...new Set(
    [...patch.matchAll(patchedPath)].map(([, before = '', after = '', named]) =>
      named === undefined ? plainPath(after === '/dev/null' ? before : after) : named.trim(),
    ),
  ),
];
const patchedPath =
  /^(?:--- ([^\n]+)\n\+\+\+ ([^\n]+)|\*\*\* (?:Add|Update|Delete) File: ([^\n]+))/gm;
/** Without the side’s letter, a time after it, and the quotes that git writes around some names. */
const plainPath = (name: string): string =>
  unquotedName(name.replace(/\t.*$/, '').trim()).replace(/^[ab]\//, '');
