import type { Readable } from 'node:stream';
import type { StreamMeta } from '@belay/protocol';
import type { Git } from './git.js';
import { baseRef } from './repository.js';

export type ExportFormat = StreamMeta<'workspace.export'>['format'];

/** A commit of the history as bytes to take away. */
export async function exportCommit(
  git: Git,
  format: ExportFormat,
  commit: string,
): Promise<Readable> {
  if (format === 'patch') return git.stream([...patchArguments, baseRef, commit]);
  if (format !== 'bundle') return git.stream(['archive', `--format=${format}`, commit]);
  // A bundle holds refs, not commits: it gets a branch of its own for as long as it is written.
  const ref = `refs/heads/belay-${commit.slice(0, 12)}`;
  await git.run(['update-ref', ref, commit]);
  const bytes = git.stream(['bundle', 'create', '--quiet', '-', ref]);
  bytes.once('close', () => void git.run(['update-ref', '-d', ref]).catch(() => undefined));
  return bytes;
}

/** `git apply` takes it as it is, whatever the settings of who applies it. */
const patchArguments = [
  'diff',
  '--binary',
  '--full-index',
  '--find-renames',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];
