import { excerpt, type EventArgs } from '@belay/protocol';
import type { Git } from './git.js';
import type { ShownChange } from '../files/seen-files.js';
import { numberedDiffs, type NumberedDiff } from './numbered-diff.js';
import type { Recorded } from './recorder.js';

/** The fields of a user’s call’s result that tell the model about it. */
export type ChangesByHand = Required<Pick<EventArgs<'result'>, 'note' | 'changes'>> &
  Pick<EventArgs<'result'>, 'moreChanges'>;

/**
 * Limits for the bytes of git’s output that are read, and for the characters of lines that are shown; a note has at
 * most 20,000.
 */
const mostRead = 400_000;
const mostShown = 12_000;
const mostNamed = 12;
const longestName = 200;

const readable = ['--unified=2', '--full-index', '--no-renames', '--no-ext-diff', '--no-textconv'];

/** A commit’s changes as text for the model; null for the first commit, or if they are unknown. */
export async function changesByHand(
  git: Git,
  { commit, parent }: Pick<Recorded, 'commit' | 'parent'>,
): Promise<ChangesByHand | null> {
  if (parent === null) return null;
  const args = ['diff-tree', '-r', '-p', ...readable, parent, commit];
  const { output, truncated } = await git.output(args, { limit: mostRead });
  const diffs = numberedDiffs(output.toString('latin1'), mostShown);
  const last = diffs.at(-1);
  if (truncated && last) last.whole = false;
  if (diffs.length === 0) return null;
  const shown = diffs.filter((diff) => diff.whole || diff.text !== '' || diff.version === null);
  const named = diffs.filter((diff) => !shown.includes(diff)).map(({ path }) => path);
  const parts = shown.slice(0, mostNamed).map(describe);
  const rest = [...named, ...shown.slice(mostNamed).map(({ path }) => path)];
  if (rest.length > 0) parts.push(`Also changed: ${names(rest)}.`);
  if (truncated) parts.push('More files changed than are named here.');
  const changes = shown
    .slice(0, mostNamed)
    .filter((diff) => diff.whole || diff.version === null)
    .map(({ path, before, version, whole, hunks }) => ({
      path,
      before,
      version,
      ...(whole && { hunks }),
    }));
  return {
    note: `What changed, with the line numbers as they are now:\n${parts.join('\n')}`,
    changes,
    ...((truncated || changes.length < diffs.length) && { moreChanges: true as const }),
  };
}

/** The lines that differ between two states of a file; null if git does not have the earlier one. */
export async function compareFiles(
  git: Git,
  before: string | Buffer,
  now: Buffer,
): Promise<ShownChange | null> {
  const from = typeof before === 'string' ? before : await write(git, before);
  const to = await write(git, now);
  const { output, truncated } = await git.output(['diff', ...readable, from, to], {
    limit: mostRead,
  });
  const [diff] = numberedDiffs(output.toString('latin1'), mostShown);
  return diff ? { ...diff, whole: diff.whole && !truncated } : null;
}

const write = async (git: Git, bytes: Buffer): Promise<string> =>
  (
    await git.run(['hash-object', '-w', '--stdin', '--no-filters'], {
      input: bytes.toString('latin1'),
      encoding: 'latin1',
    })
  ).trim();

function describe({ path, version, text, whole }: NumberedDiff): string {
  const name = excerpt(path, longestName);
  if (version === null) return `${name} was deleted.`;
  if (text === '') return `${name} was replaced by another file.`;
  return `${name}:\n${text}${whole ? '' : '\n… and more: read it again.'}`;
}

function names(paths: readonly string[]): string {
  const shown = paths.slice(0, mostNamed).map((path) => excerpt(path, longestName));
  const more = paths.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}
