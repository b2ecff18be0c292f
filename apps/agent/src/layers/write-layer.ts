import { createReadStream, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path/posix';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pack, type Headers, type Pack } from 'tar-stream';
import { whiteoutPrefix } from './whiteout-prefix.js';

/** A file system, without what is mounted in it. */
export interface RootFiles {
  /** Its root, as an absolute path. */
  root: string;
  /** The absolute paths at which something else begins. */
  mounted: ReadonlySet<string>;
}

/** When each file was changed last, by its path below the root. */
export type ChangeTimes = ReadonlyMap<string, number>;

/** What is there now. Takes a second for a large image. */
export function changeTimesOf(files: RootFiles): ChangeTimes {
  const times = new Map<string, number>();
  for (const { path, stats } of filesIn(files)) times.set(path, stats.ctimeMs);
  return times;
}

/**
 * A tar of what differs from `before`: what was removed, by entries as in a layer of an OCI image, then what was made or
 * changed, folders before what is in them. Sockets, pipes and devices are left out, and so are names that are not UTF-8.
 * Nothing may be written meanwhile. Fails if there are more than `maxBytes` in files, as `unpackLayer` does.
 */
export function layerSince(before: ChangeTimes, files: RootFiles & { maxBytes: number }): Readable {
  const archive = pack();
  writeAll(archive, before, files).then(
    () => archive.finalize(),
    (error: Error) => archive.destroy(error),
  );
  return archive;
}

interface Found {
  /** Below the root. */
  path: string;
  stats: Stats;
}

async function writeAll(
  archive: Pack,
  before: ChangeTimes,
  { maxBytes, ...files }: RootFiles & { maxBytes: number },
): Promise<void> {
  const present = new Set(['.']);
  let bytes = 0;
  const changed: Found[] = [];
  for (const found of filesIn(files)) {
    present.add(found.path);
    if (before.get(found.path) === found.stats.ctimeMs) continue;
    changed.push(found);
    if (found.stats.isFile()) bytes += found.stats.size / found.stats.nlink;
    if (bytes > maxBytes)
      throw new Error(`Its files have more than ${Math.floor(maxBytes / 2 ** 20)} MiB.`);
  }
  for (const path of before.keys())
    if (!present.has(path) && present.has(dirname(path)))
      await entry(archive, { name: join(dirname(path), whiteoutPrefix + basename(path)), size: 0 });
  const linked = new Map<number, string>();
  for (const found of changed) await write(archive, found, { root: files.root, linked });
}

async function write(
  archive: Pack,
  { path: name, stats }: Found,
  { root, linked }: { root: string; linked: Map<number, string> },
): Promise<void> {
  const { mode, uid, gid, mtime, ino, nlink, size } = stats;
  const about: Headers = { name, mode: mode & 0o7777, uid, gid, mtime, size: 0 };
  const path = join(root, name);
  if (stats.isDirectory()) return entry(archive, { ...about, type: 'directory' });
  if (stats.isSymbolicLink())
    return entry(archive, { ...about, type: 'symlink', linkname: readlinkSync(path) });
  if (!stats.isFile()) return;
  const first = nlink > 1 ? linked.get(ino) : undefined;
  if (first !== undefined) return entry(archive, { ...about, type: 'link', linkname: first });
  linked.set(ino, name);
  if (size === 0) return entry(archive, about);
  // Exactly as much as its header says.
  await entry(archive, { ...about, size }, createReadStream(path, { end: size - 1 }));
}

async function entry(archive: Pack, header: Headers, content?: Readable): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const written = (error?: Error | null): void => (error ? reject(error) : resolve());
  if (content) await Promise.all([pipeline(content, archive.entry(header, written)), promise]);
  else {
    archive.entry(header, '', written);
    await promise;
  }
}

function* filesIn({ root, mounted }: RootFiles, folder = ''): Generator<Found> {
  for (const name of readdirSync(join(root, folder))) {
    const path = join(folder, name);
    const absolute = join(root, path);
    if (mounted.has(absolute)) continue;
    const stats = lstatSync(absolute, { throwIfNoEntry: false });
    if (!stats) continue;
    yield { path, stats };
    if (stats.isDirectory()) yield* filesIn({ root, mounted }, path);
  }
}
