import { pluralText } from '@belay/protocol';
import type { OwnCommit } from './own-commits.js';
import { maxFileBytes, type Recorded } from './recorder.js';

/** What a commit has, for people. */
export function recordedSentence({ parent, changes }: Recorded): string {
  if (parent === null) return 'Recorded the workspace at the start';
  const names = changes.slice(0, 3).map((change) => change.path);
  const more = changes.length - names.length;
  return `Recorded ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

export function ownCommitsNote(commits: OwnCommit[], { commit, subject }: OwnCommit): string {
  const count = pluralText(commits.length, 'new commit');
  return `the workspace’s own repository has ${count}, the latest ${commit.slice(0, 7)} “${subject.slice(0, 80)}”: the patch has the files as they are now, and only the tar export has the commits`;
}

export const leftOutNames = (paths: string[]): string =>
  `${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ` and ${paths.length - 5} more` : ''} (larger than ${maxFileBytes / 1_000_000} MB)`;
