import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { lstat, mkdtemp, readdir, readlink, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { AppError } from '@belay/protocol';
import { pack, type Pack } from 'tar-stream';

const run = promisify(execFile);
const git = (folder: string, ...args: string[]) =>
  run('git', ['-C', folder, ...args], { maxBuffer: 1 << 30 }).then(({ stdout }) => stdout);

/** A folder that exists, as an absolute path without links. */
export async function checkedFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  const stat = await lstat(path).catch(() => undefined);
  if (!stat) throw new AppError('invalid_input', `The workspace ${folder} does not exist.`);
  const real = await realpath(path);
  if (!(await lstat(real)).isDirectory())
    throw new AppError('invalid_input', `The workspace ${folder} is not a folder.`);
  return real;
}

/**
 * Packs a folder as a tar stream: in a git repository its tracked and unignored files with the history
 * (no hooks, no remotes, no settings of the host), else every file. Nothing of the folder is changed.
 */
export function packWorkspace(folder: string): ReadableStream<Uint8Array> {
  const archive = pack();
  void fill(archive, folder).then(
    () => archive.finalize(),
    (error: Error) => archive.destroy(error),
  );
  return Readable.toWeb(archive) as ReadableStream<Uint8Array>;
}

async function fill(archive: Pack, folder: string): Promise<void> {
  const top = await git(folder, 'rev-parse', '--show-toplevel').catch(() => undefined);
  if (top === undefined) return addAll(archive, folder, '');
  const listed = await git(folder, 'ls-files', '-z', '-co', '--exclude-standard', '--deduplicate');
  for (const path of listed.split('\0').filter(Boolean)) await add(archive, folder, path);
  if ((await realpath(top.trimEnd())) === folder) await addHistory(archive, folder);
}

async function addHistory(archive: Pack, folder: string): Promise<void> {
  const temporary = await mkdtemp(join(tmpdir(), 'belay-history-'));
  try {
    const copy = join(temporary, 'copy');
    const empty = ['-c', 'core.hooksPath=/dev/null', '-c', 'init.templateDir='];
    await run('git', [...empty, 'clone', '--quiet', '--no-checkout', folder, copy]);
    await git(copy, 'remote', 'remove', 'origin');
    await git(copy, 'read-tree', 'HEAD').catch(() => undefined); // no commit yet
    await addAll(archive, copy, '.git');
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function addAll(archive: Pack, root: string, path: string): Promise<void> {
  const entries = await readdir(join(root, path), { withFileTypes: true });
  for (const entry of entries) {
    const inner = join(path, entry.name);
    await add(archive, root, inner);
    if (entry.isDirectory()) await addAll(archive, root, inner);
  }
}

/** Adds one file, folder or link; what is gone meanwhile or is neither is left out. */
async function add(archive: Pack, root: string, name: string): Promise<void> {
  const path = join(root, name);
  const stat = await lstat(path).catch(() => undefined);
  if (!stat) return;
  const header = { name, mode: stat.mode & 0o777, mtime: stat.mtime };
  if (stat.isSymbolicLink()) {
    archive.entry({ ...header, type: 'symlink', linkname: await readlink(path) });
  } else if (stat.isDirectory()) {
    archive.entry({ ...header, type: 'directory' });
  } else if (stat.isFile()) {
    const entry = archive.entry({ ...header, size: stat.size });
    // A file that grows while it is read keeps the size of its header.
    const end = stat.size > 0 ? { end: stat.size - 1 } : {};
    await pipeline(stat.size > 0 ? createReadStream(path, end) : Readable.from([]), entry);
  }
}

/** Applies a patch to a folder, whole or not at all. */
export async function applyPatch(folder: string, patch: Uint8Array): Promise<void> {
  const top = await git(folder, 'rev-parse', '--show-toplevel').catch(() => folder);
  // Inside somebody else's repository, git would take paths as relative to its top: look no higher than here.
  const env = { ...process.env };
  if (relative(await realpath(top.trimEnd()), folder) !== '')
    env.GIT_CEILING_DIRECTORIES = dirname(folder);
  const child = execFile('git', ['-C', folder, 'apply', '--binary', '--whitespace=nowarn', '-'], {
    env,
  });
  let errors = '';
  child.stderr?.on('data', (text) => (errors += text));
  child.stdin?.on('error', () => undefined).end(patch);
  const code = await new Promise((done) => child.on('close', done));
  if (code !== 0)
    throw new AppError('conflict', `The patch does not apply to ${folder}: ${errors.trim()}`);
}
