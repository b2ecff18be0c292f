import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '@belay/protocol';
import type { PrivateRepository } from '@belay/host';
import { pack, type Headers, type Pack } from 'tar-stream';

export interface WorkingCopy {
  commit: string;
  /** Null for a HEAD that is not on a branch. */
  branch: string | null;
  /** The address of `origin`. */
  url: string;
}

/**
 * A commit as the tar archive of a working copy: its files byte for byte, regardless of attributes, and a `.git` with
 * our settings and refs and the repository’s objects. Failures reach the archive’s reader; the repository must exist
 * until the end.
 */
export function repositoryTar(repository: PrivateRepository, copy: WorkingCopy): Readable {
  const out = new PassThrough({ highWaterMark: 1 << 18 });
  write(repository, copy, out).catch((error: unknown) => {
    const failed = new AppError('internal', 'The repository’s files could not be read.');
    out.destroy(error instanceof AppError ? error : failed);
  });
  return out;
}

async function write(
  repository: PrivateRepository,
  copy: WorkingCopy,
  out: PassThrough,
): Promise<void> {
  const { code } = await repository.run(['read-tree', copy.commit]);
  if (code !== 0)
    throw new AppError('invalid_input', 'The repository has paths that git does not check out.');
  const archive = pack();
  const added = addRepository(archive, repository.folder, copy).then(() => archive.finalize());
  added.catch((error: Error) => archive.destroy(error));
  await pipeline(archive, withoutEnd(), out, { end: false });
  await added;
  await addFiles(repository, copy.commit, out);
}

/** Drops the blocks of zeros that end an archive, because more files follow. */
function withoutEnd(): Transform {
  const endBytes = 1_024;
  let tail: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const all = Buffer.concat([tail, chunk]);
      tail = all.subarray(Math.max(0, all.length - endBytes));
      done(null, all.subarray(0, all.length - tail.length));
    },
  });
}

async function addRepository(archive: Pack, folder: string, copy: WorkingCopy): Promise<void> {
  const { branch, commit } = copy;
  const text = (name: string, content: string) =>
    addText(archive, { name: `.git/${name}`, mode: 0o644 }, content);
  for (const name of ['', 'objects/', 'objects/pack/', 'objects/info/', 'refs/', 'refs/heads/'])
    await addEntry(archive, { name: `.git/${name}`, mode: 0o755, type: 'directory' });
  await text('HEAD', branch === null ? `${commit}\n` : `ref: refs/heads/${branch}\n`);
  await text('config', settings(copy));
  if (branch !== null)
    await text(
      'packed-refs',
      `# pack-refs with: peeled fully-peeled sorted \n${commit} refs/heads/${branch}\n${commit} refs/remotes/origin/${branch}\n`,
    );
  const shallow = await readFile(join(folder, 'shallow'), 'utf8').catch(() => undefined);
  if (shallow !== undefined) await text('shallow', shallow);
  const packs = await readdir(join(folder, 'objects/pack'));
  for (const name of ['index', ...packs.map((one) => `objects/pack/${one}`)])
    await addFile(archive, join(folder, name), `.git/${name}`);
}

const settings = ({ url, branch }: WorkingCopy): string =>
  [
    '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n',
    `[remote "origin"]\n\turl = ${quoted(url)}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`,
    branch === null
      ? ''
      : `[branch ${quoted(branch)}]\n\tremote = origin\n\tmerge = ${quoted(`refs/heads/${branch}`)}\n`,
  ].join('');

/** Neither text contains control characters: the address was parsed, and the name checked. */
const quoted = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', String.raw`\"`)}"`;

async function addText(archive: Pack, header: Headers, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  await addEntry(archive, { ...header, size: bytes.length }, Readable.from([bytes]));
}

async function addFile(archive: Pack, path: string, name: string): Promise<void> {
  const { size } = await stat(path);
  const content = createReadStream(path, { highWaterMark: 1 << 18 });
  await addEntry(archive, { name, mode: 0o644, size }, content);
}

/** Rejects once the reader has closed the archive: then it adds nothing, which its type does not say. */
async function addEntry(
  archive: Pack,
  header: Headers,
  content = Readable.from([]),
): Promise<void> {
  const entry: Writable | undefined = archive.entry(header);
  if (!entry) {
    content.destroy();
    throw new Error('The archive was closed.');
  }
  await pipeline(content, entry);
}

async function addFiles(
  repository: PrivateRepository,
  commit: string,
  out: PassThrough,
): Promise<void> {
  const child = repository.start(['-c', 'tar.umask=0022', 'archive', '--format=tar', commit]);
  child.stdin.end();
  child.stderr.resume();
  const stop = (): void => void child.kill('SIGKILL');
  out.once('close', stop);
  const ended = once(child, 'close');
  const [, [code]] = await Promise.all([pipeline(child.stdout, out, { end: false }), ended]);
  if (code !== 0) throw new AppError('internal', 'The repository’s files could not be read.');
  out.end();
}
