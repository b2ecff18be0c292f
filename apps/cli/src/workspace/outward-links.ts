import { posix } from 'node:path';
import { singleLine } from '../output.js';
import type { PatchedFile } from './write-changes.js';

/** A link of a patch whose target is outside of the folder: whoever follows it leaves the folder. */
export interface OutwardLink {
  path: string;
  target: string;
}

/** The links among these files that lead out of their folder. */
export function outwardLinks(files: readonly PatchedFile[]): OutwardLink[] {
  return files.flatMap(({ path, mode, content }) => {
    if (mode !== '120000' || content === undefined) return [];
    const link = { path: decoded(path), target: content.toString() };
    return leadsOut(link) ? [link] : [];
  });
}

/** Compares names alone: a folder on the way that is a link itself is in the list, or the user’s own. */
function leadsOut({ path, target }: OutwardLink): boolean {
  if (posix.isAbsolute(target)) return true;
  return /^\.\.(\/|$)/.test(posix.join(posix.dirname(path), target));
}

const maxNamed = 10;

/** What was applied, for the user: names the links that lead out of the folder. */
export function appliedSentence(folder: string, links: readonly OutwardLink[]): string {
  const applied = `Applied to ${folder}.`;
  if (links.length === 0) return applied;
  const shown = links
    .slice(0, maxNamed)
    .map(({ path, target }) => singleLine(`${path} → ${target}`, Infinity));
  const others = links.length > maxNamed ? ` and ${links.length - maxNamed} more` : '';
  return `${applied} These links lead out of it, so check them before you follow them: ${shown.join(', ')}${others}.`;
}

/** Paths of patches are bytes, as latin1. */
const decoded = (path: string): string => Buffer.from(path, 'latin1').toString();
