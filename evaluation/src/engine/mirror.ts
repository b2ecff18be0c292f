import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError, shellQuoted } from '@belay/protocol';
import { findGit, git as runGit } from '@belay/host';
import { fileEntry, type Entry } from '../entries.js';

/**
 * A local clone of a repository below a folder: `OWNER/NAME`, `OWNER__NAME` or `NAME`, with `.git`
 * or without.
 */
export function mirrorOf(folder: string, repo: string): string | undefined {
  const names = [repo, repo.replace('/', '__'), repo.split('/').at(-1) ?? repo];
  return names
    .flatMap((name) => [join(folder, name), join(folder, `${name}.git`)])
    .find((path) => existsSync(join(path, 'HEAD')) || existsSync(join(path, '.git')));
}

/**
 * One commit of a clone as the files of a bare repository, with its original id, without its
 * history and later commits. Rejects with `invalid_input` when the clone does not have the commit.
 */
export async function commitOf(
  mirror: string,
  commit: string,
  signal: AbortSignal,
): Promise<Entry[]> {
  const binary = findGit(mirror);
  if (!binary)
    throw new AppError('unavailable', 'Git is not installed on this machine. Install it.');
  const folder = mkdtempSync(join(tmpdir(), 'belay-commit-'));
  const environment = { GIT_DIR: folder, GIT_ALLOW_PROTOCOL: 'file' };
  const git = async (...args: string[]) => {
    const { code, errors } = await runGit(args, { binary, folder, environment, signal });
    if (code !== 0) throw new Error(errors.trim());
  };
  const anyCommit = `${shellQuoted(binary)} -c uploadpack.allowAnySHA1InWant=true upload-pack`;
  try {
    await git('init', '-q', '--bare', '--template=', '-b', 'base');
    const what = [`file://${mirror}`, `${commit}:refs/heads/base`];
    await git('fetch', '-q', '--depth=1', '--no-tags', `--upload-pack=${anyCommit}`, ...what);
    return filesOf(folder);
  } catch (error) {
    signal.throwIfAborted();
    const said = error instanceof Error ? error.message : String(error);
    throw new AppError(
      'invalid_input',
      `The commit ${commit} could not be fetched from ${mirror}: ${said}`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const silent = { GIT_ALLOW_PROTOCOL: 'file', GIT_NO_LAZY_FETCH: '1' };

export async function hasCommit(
  mirror: string,
  commit: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (!/^[0-9a-f]{7,64}$/i.test(commit)) return false;
  const binary = findGit(mirror);
  if (!binary) return false;
  const args = ['-C', mirror, 'cat-file', '-e', `${commit}^{commit}`];
  return (await runGit(args, { binary, folder: mirror, environment: silent, signal })).code === 0;
}

/** The text of a file at a commit; empty if it does not exist. */
export async function fileAtCommit(
  mirror: string,
  { commit, path, signal }: { commit: string; path: string; signal: AbortSignal },
): Promise<string> {
  const binary = findGit(mirror);
  if (!binary) return '';
  const args = ['-C', mirror, 'cat-file', 'blob', `${commit}:${path}`];
  const { code, output } = await runGit(args, {
    binary,
    folder: mirror,
    environment: silent,
    signal,
  });
  return code === 0 ? output.toString() : '';
}

const filesOf = (folder: string): Entry[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return fileEntry(path.slice(folder.length + 1), readFileSync(path));
    });
