import type { Stats } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import { AppError } from '@belay/protocol';
import { isSafePath, PrivateRepository, reach } from '@belay/host';
import { openFlags } from './list-workspace.js';
import { outwardLinks, type OutwardLink } from './outward-links.js';
import { patchPaths } from './patch-paths.js';
import { writeChanges, type PatchedFile } from './write-changes.js';

/** The limit for the files that a patch names, before and after it, in bytes. */
const maxBytes = 1_000_000_000;

/**
 * Applies a patch to a folder, completely or not at all, on top of the user’s changes since. Git gets copies of the
 * files in a repository of our own, and never sees the folder, its settings or its filters. Results are written below
 * the folder without following links, and never into a `.git`. Rejects with `conflict` when the patch does not apply;
 * nothing is changed then. Returns the new links that lead out of the folder, which the user is told of.
 */
export async function applyPatch(folder: string, patch: Uint8Array): Promise<OutwardLink[]> {
  const bytes = Buffer.from(patch);
  const repository = await PrivateRepository.create({ untrusted: folder });
  const refuse = (why: string) =>
    new AppError('conflict', `The patch does not apply to ${folder}: ${why} Nothing was changed.`);
  try {
    const before = await addFiles(repository, folder, patchPaths(bytes.toString('latin1')));
    const apply = ['apply', '--cached', '--binary', '--whitespace=nowarn', '-'];
    const { code, errors } = await repository.run(apply, { input: bytes });
    if (code !== 0) throw refuse(errors.trim().replaceAll('\n', ' '));
    const changes = changesBetween(before, await indexOf(repository));
    for (const { path, mode } of changes) {
      if (!isSafePath(path)) throw refuse(`it writes to ${named(path)}, which is not allowed.`);
      if (mode === '160000') throw refuse(`${named(path)} is a submodule.`);
    }
    await addContents(repository, changes);
    await writeChanges(folder, changes).catch((error: Error) => {
      throw refuse(`${error.message.replace(/\.?$/, '.')}`);
    });
    return outwardLinks(changes);
  } finally {
    await repository.remove();
  }
}

interface Indexed {
  mode: string;
  id: string;
  stat?: Stats;
}

/** Adds the folder’s current files to the repository. */
async function addFiles(
  repository: PrivateRepository,
  folder: string,
  paths: ReadonlySet<string>,
): Promise<Map<string, Indexed>> {
  const files = new Map<string, Indexed>();
  const space = { left: maxBytes };
  for (const path of [...paths].filter(isSafePath)) {
    const found = await contentOf(folder, path, space);
    if (!found) continue;
    const { mode, stat } = found;
    files.set(path, { mode, stat, id: await repository.addBlob(found.bytes) });
  }
  const lines = [...files].map(([path, { mode, id }]) => `${mode} ${id}\t${path}\0`).join('');
  const input = Buffer.from(lines, 'latin1');
  const { code, errors } = await repository.run(['update-index', '-z', '--index-info'], { input });
  if (code !== 0) throw new AppError('conflict', `The patch cannot be read: ${errors.trim()}`);
  return files;
}

async function contentOf(
  folder: string,
  path: string,
  space: { left: number },
): Promise<{ mode: string; stat: Stats; bytes: Buffer } | undefined> {
  const take = (size: number) => {
    space.left -= size;
    if (space.left < 0) throw tooLarge();
  };
  try {
    return await reach(folder, Buffer.from(path, 'latin1'), async ({ at }) => {
      const stat = await lstat(at);
      if (stat.isSymbolicLink()) {
        return { mode: '120000', stat, bytes: await readlink(at, { encoding: 'buffer' }) };
      }
      if (!stat.isFile()) return undefined;
      take(stat.size);
      const file = await open(at, openFlags);
      try {
        const mode = (stat.mode & 0o100) === 0 ? '100644' : '100755';
        return { mode, stat, bytes: await file.readFile() };
      } finally {
        await file.close();
      }
    });
  } catch (error) {
    if (error instanceof AppError && error.code === 'too_large') throw error;
    return undefined; // It is new, or behind a link: writing says so.
  }
}

async function indexOf(repository: PrivateRepository): Promise<Map<string, Indexed>> {
  const { output } = await repository.run(['ls-files', '-z', '--stage']);
  const files = new Map<string, Indexed>();
  for (const line of output.toString('latin1').split('\0')) {
    const [, mode, id, path] = /^(\d+) ([0-9a-f]+) \d\t(.*)$/s.exec(line) ?? [];
    if (mode && id && path !== undefined) files.set(path, { mode, id });
  }
  return files;
}

type Change = PatchedFile & { id?: string };

function changesBetween(before: Map<string, Indexed>, after: Map<string, Indexed>): Change[] {
  const changes: Change[] = [];
  for (const [path, old] of before) {
    if (!after.has(path)) changes.push({ path, old: old.stat });
  }
  for (const [path, { mode, id }] of after) {
    const old = before.get(path);
    if (old?.mode !== mode || old.id !== id) changes.push({ path, old: old?.stat, mode, id });
  }
  return changes;
}

/** Reads all new contents from one process. */
async function addContents(repository: PrivateRepository, changes: Change[]): Promise<void> {
  const written = changes.filter(({ id }) => id !== undefined);
  const input = Buffer.from(written.map(({ id }) => `${id}\n`).join(''));
  const run = repository.run(['cat-file', '--batch'], { input, maxBytes });
  const { output } = await run.catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'too_large' ? tooLarge() : error;
  });
  let at = 0;
  for (const change of written) {
    const end = output.indexOf('\n', at);
    const size = Number(output.toString('latin1', at, end).split(' ')[2]);
    change.content = output.subarray(end + 1, end + 1 + size);
    at = end + 2 + size;
  }
}

const tooLarge = (): AppError =>
  new AppError(
    'too_large',
    'The files that the patch changes have more than 1 GB. Nothing was changed.',
  );

const named = (path: string): string => JSON.stringify(Buffer.from(path, 'latin1').toString());
