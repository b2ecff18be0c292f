import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppError } from '@belay/protocol';
import { file, type Entry } from '../entries.js';

const run = promisify(execFile);

/** A local clone of a repository below a folder: `OWNER/NAME`, `OWNER__NAME` or `NAME`, with `.git` or without. */
export function mirrorOf(folder: string, repo: string): string | undefined {
  const names = [repo, repo.replace('/', '__'), repo.split('/').at(-1) ?? repo];
  return names
    .flatMap((name) => [join(folder, name), join(folder, `${name}.git`)])
    .find((path) => existsSync(join(path, 'HEAD')) || existsSync(join(path, '.git')));
}

/**
 * One commit of a clone as the files of a bare repository, with its own id: neither its history nor anything later
 * is in it. Rejects with `invalid_input` when the clone does not have the commit.
 */
export async function commitOf(
  mirror: string,
  commit: string,
  signal: AbortSignal,
): Promise<Entry[]> {
  const folder = mkdtempSync(join(tmpdir(), 'belay-commit-'));
  const git = (...args: string[]) => run('git', ['-C', folder, ...args], { signal });
  const anyCommit = 'git -c uploadpack.allowAnySHA1InWant=true upload-pack';
  try {
    await git('init', '-q', '--bare', '--template=', '-b', 'base');
    const what = [`file://${mirror}`, `${commit}:refs/heads/base`];
    await git('fetch', '-q', '--depth=1', '--no-tags', `--upload-pack=${anyCommit}`, ...what);
    return filesOf(folder);
  } catch (error) {
    signal.throwIfAborted();
    const said = (error as { stderr?: string }).stderr?.trim() ?? String(error);
    throw new AppError('invalid_input', `${mirror} does not give ${commit}: ${said}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const filesOf = (folder: string): Entry[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return file(path.slice(folder.length + 1), readFileSync(path));
    });
