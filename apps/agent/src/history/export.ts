import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { AppError, type StreamMeta } from '@belay/protocol';
import { Git } from './git.js';
import { withOwnRepository } from './tar-with-repository.js';
import { baseRef } from './repository.js';

export type ExportFormat = StreamMeta<'workspace.export'>['format'];

/** A commit of the history as bytes to take away. */
export async function exportCommit(
  git: Git,
  format: ExportFormat,
  commit: string,
): Promise<Readable> {
  if (format === 'patch') return git.stream([...patchArguments, baseRef, commit]);
  if (format === 'bundle') return bundle(git, commit);
  const files = git.stream(['archive', `--format=${format}`, commit]);
  return format === 'tar' ? withOwnRepository(files, git.places.workspace) : files;
}

/** A bundle holds refs: the commit is the `main` and the HEAD of a repository of its own that borrows the objects. */
async function bundle(git: Git, commit: string): Promise<Readable> {
  const { folder } = git.places;
  if (existsSync(join(folder, 'shallow'))) {
    throw new AppError(
      'unavailable',
      'Old steps of the history were collected, so it cannot be bundled: export a patch or the files instead.',
    );
  }
  const lender = await mkdtemp(join(folder, 'bundle-'));
  await mkdir(join(lender, 'refs/heads'), { recursive: true });
  await writeFile(join(lender, 'HEAD'), 'ref: refs/heads/main\n');
  await writeFile(join(lender, 'refs/heads/main'), `${commit}\n`);
  const bytes = new Git({ ...git.places, folder: lender, objects: join(folder, 'objects') }).stream(
    ['bundle', 'create', '--quiet', '-', 'HEAD', 'main'],
  );
  bytes.once('close', () => void rm(lender, { recursive: true, force: true }));
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
