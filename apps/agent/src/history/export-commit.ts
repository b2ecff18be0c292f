import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ExportFormat } from '@belay/protocol';
import { isThere } from '../permissions.js';
import { Git } from './git.js';
import { tarWithRepository } from './tar-with-repository.js';
import { baseRef } from './repository.js';

/** The last commit, and for a patch the first one. */
export interface ExportSpan {
  commit?: string | undefined;
  from?: string | undefined;
}

/** Exports a commit of the history as bytes. */
export async function exportCommit(
  git: Git,
  format: ExportFormat,
  { commit, from = baseRef }: { commit: string; from?: string | undefined },
): Promise<Readable> {
  if (format === 'patch') return git.stream([...patchArguments, from, commit]);
  if (format === 'bundle') return bundle(git, commit);
  const files = git.stream(['archive', `--format=${format}`, commit]);
  return format === 'tar' ? tarWithRepository(files, git.places.workspace) : files;
}

/**
 * A bundle contains refs, so the commit becomes `main` and HEAD of a temporary repository that borrows the objects.
 */
async function bundle(git: Git, commit: string): Promise<Readable> {
  const { folder } = git.places;
  const borrower = await mkdtemp(join(folder, 'bundle-'));
  await mkdir(join(borrower, 'refs/heads'), { recursive: true });
  await writeFile(join(borrower, 'HEAD'), 'ref: refs/heads/main\n');
  await writeFile(join(borrower, 'refs/heads/main'), `${commit}\n`);
  const own = new Git({ ...git.places, folder: borrower, objects: join(folder, 'objects') });
  const cut = join(folder, 'shallow');
  if (isThere(cut)) await beginAtCut(own, cut);
  const bytes = own.stream(['bundle', 'create', '--quiet', '-', 'HEAD', 'main']);
  bytes.once('close', () => void rm(borrower, { recursive: true, force: true }));
  return bytes;
}

/**
 * A bundle cannot begin at a shallow boundary, so after old steps were dropped, the commits from there on are made
 * again.
 */
async function beginAtCut(own: Git, cut: string): Promise<void> {
  const shallow = join(own.places.folder, 'shallow');
  await copyFile(cut, shallow);
  const steps = await own.run(['fast-export', '--no-data', 'main']);
  await own.run(['fast-import', '--quiet', '--force'], { input: steps });
  await rm(shallow);
}

/** Produces a patch that `git apply` accepts, whatever the user’s settings. */
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
