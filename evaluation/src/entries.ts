import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { extract, pack, type Headers } from 'tar-stream';
import { Refused } from './refused.js';
import { ReadBudget } from './read-budget.js';

/** A file, a folder or a symbolic link, byte for byte. */
export interface Entry {
  path: string;
  kind: 'file' | 'folder' | 'link';
  mode: number;
  uid: number;
  gid: number;
  bytes: Buffer;
  /** The target of a link. */
  target: string;
}

export function fileEntry(path: string, content: string | Buffer, mode = 0o644): Entry {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return { path, kind: 'file', mode, uid: 0, gid: 0, bytes, target: '' };
}

export function folderEntry(path: string, mode = 0o755): Entry {
  return { path, kind: 'folder', mode, uid: 0, gid: 0, bytes: Buffer.alloc(0), target: '' };
}

export const ownedBy = (entries: Entry[], uid: number): Entry[] =>
  entries.map((entry) => ({ ...entry, uid, gid: uid }));

/** Resolves relative paths below a folder; absolute ones stay. */
export const under = (base: string, entries: Entry[]): Entry[] =>
  entries.map((entry) => ({ ...entry, path: posix.resolve(base, entry.path) }));

/** The folders above relative paths, outer ones first; an archive without them leaves them to root. */
export function parentFolders(entries: Entry[]): Entry[] {
  const paths = new Set<string>();
  for (const { path } of entries) for (const above of parentsOf(path)) paths.add(above);
  return [...paths].toSorted().map((path) => folderEntry(path));
}

/** The folders above a path, inner ones first, without the root or the working folder. */
export function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let parent = posix.dirname(path); parent.length > 1; parent = posix.dirname(parent))
    parents.push(parent);
  return parents;
}

/** Paths for `xargs -0`. */
export const nulEnded = (paths: Iterable<string>): string =>
  Array.from(paths, (path) => `${path}\0`).join('');

/** An archive to unpack in a container's root folder: paths lose their leading slash. */
export async function packArchive(entries: Entry[]): Promise<Buffer> {
  const archive = pack();
  for (const entry of entries) archive.entry(headerOf(entry), entry.bytes);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function headerOf({ path, kind, mode, uid, gid, bytes, target }: Entry): Headers {
  const name = path.replace(/^\/+/, '');
  const more = { mode, uid, gid, mtime: new Date(0) };
  if (kind === 'folder') return { name: `${name}/`, type: 'directory', ...more };
  if (kind === 'link') return { name, type: 'symlink', linkname: target, ...more };
  return { name, type: 'file', size: bytes.length, ...more };
}

/**
 * Reads an archive whose paths are relative to `base`. Skips devices and sockets. Rejects with
 * `Refused` for a path outside `base`, and when more data arrives than the budget allows, whatever
 * sizes the headers state.
 */
export async function readArchive(
  archive: Readable | Uint8Array,
  base = '',
  budget = new ReadBudget(),
): Promise<Entry[]> {
  const entries: Entry[] = [];
  const unpack = extract();
  unpack.on('entry', (header, stream, next) => {
    const chunks: Buffer[] = [];
    const refuse = (error: unknown) => unpack.destroy(error as Error);
    stream.on('data', (chunk: Buffer) => {
      try {
        budget.takeBytes(chunk.length, header.name);
        chunks.push(chunk);
      } catch (error) {
        refuse(error);
      }
    });
    stream.on('error', next);
    stream.on('end', () => {
      try {
        budget.takeEntry();
        const entry = entryOf(header, Buffer.concat(chunks), { base, before: entries });
        if (entry) entries.push(entry);
        next();
      } catch (error) {
        refuse(error);
      }
    });
  });
  const ended = new Promise<void>((done, broken) => {
    unpack.on('finish', done);
    unpack.on('error', broken);
  });
  const source = archive instanceof Readable ? archive : Readable.from([Buffer.from(archive)]);
  source.on('error', (error) => unpack.destroy(error));
  source.pipe(unpack);
  try {
    await ended;
  } finally {
    // The rest of a refused archive is not read.
    source.destroy();
  }
  return entries;
}

function entryOf(
  header: Headers,
  bytes: Buffer,
  { base, before }: { base: string; before: Entry[] },
): Entry | undefined {
  const path = pathIn(base, header.name);
  const { mode = 0o644, uid = 0, gid = 0 } = header;
  const common = { path, mode, uid, gid, bytes, target: '' };
  if (header.type === 'directory') return { ...common, kind: 'folder' };
  if (header.type === 'symlink')
    return { ...common, kind: 'link', target: header.linkname ?? '', bytes: Buffer.alloc(0) };
  if (header.type === 'link') {
    const original = pathIn(base, header.linkname ?? '');
    const found = before.find((entry) => entry.path === original);
    return found && { ...found, path };
  }
  return header.type === 'file' || header.type === 'contiguous-file'
    ? { ...common, kind: 'file' }
    : undefined;
}

/** The path of an archive’s entry below `base`. Throws `Refused` if it is outside. */
function pathIn(base: string, name: string): string {
  const relative = posix.normalize(name.replace(/\/+$/, '') || '.');
  if (posix.isAbsolute(relative) || relative === '..' || relative.startsWith('../'))
    throw new Refused(
      `An archive has the path ${name.slice(0, 200)}, which is outside its folder.`,
    );
  return posix.join(base, relative);
}

/**
 * A hash over the JSON form of the parts, in their order. Entries are hashed with content, path and
 * mode.
 */
export function contentHash(...parts: unknown[]): string {
  const hash = createHash('sha256');
  for (const part of parts) {
    const text = JSON.stringify(part, (_key, value: unknown) =>
      isBytes(value) ? Buffer.from(value.data).toString('base64') : value,
    );
    hash.update(`${text?.length ?? 0}\0${text}\0`);
  }
  return hash.digest('hex').slice(0, 24);
}

/** Whether a value has the form that JSON.stringify gives a Buffer. */
function isBytes(value: unknown): value is { type: 'Buffer'; data: number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
}
