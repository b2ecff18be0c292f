import {
  chmodSync,
  createWriteStream,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path/posix';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, type Headers } from 'tar-stream';
import { whiteoutPrefix } from './whiteout-prefix.js';
import type { RootFiles } from './write-layer.js';

/**
 * Unpacks a layer, which may be hostile: nothing is written through a link, and what is mounted covers what a layer has
 * there. Owners are kept where this process may do so. Rejects for an entry that leads elsewhere, and beyond `maxBytes` of
 * files.
 */
export async function unpackLayer(
  layer: Readable,
  { maxBytes, ...files }: RootFiles & { maxBytes: number },
): Promise<void> {
  const target = new LayerTarget(files);
  const reader = extract();
  let bytes = 0;
  reader.on('entry', (header, content, goOn) => {
    bytes += header.size ?? 0;
    const unpacked =
      bytes > maxBytes
        ? Promise.reject(new Error(`A layer has more than ${maxBytes} bytes.`))
        : target.add(header, content);
    unpacked.then(() => goOn(), goOn);
  });
  await pipeline(layer, reader);
}

class LayerTarget {
  /** Folders of the root’s own file system, none of them behind a link. */
  readonly #folders = new Set(['.']);

  constructor(private readonly files: RootFiles) {}

  async add(header: Headers, content: Readable): Promise<void> {
    const { type = 'file', linkname } = header;
    const named = checked(header.name);
    const name = basename(named);
    const isRemoval = name.startsWith(whiteoutPrefix);
    const path = isRemoval
      ? join(dirname(named), checked(name.slice(whiteoutPrefix.length)))
      : named;
    if (this.#isCovered(path)) return void content.resume();
    this.#makeFolder(dirname(path));
    if (isRemoval) this.#remove(path);
    else if (type === 'directory') {
      this.#makeFolder(path, { replaces: true });
      this.#describe(path, header);
    } else if (type === 'symlink') {
      this.#remove(path);
      symlinkSync(linkname ?? '', this.#absolute(path));
      this.#describe(path, header);
    } else if (type === 'link') {
      const first = this.#file(linkname ?? '');
      this.#remove(path);
      linkSync(first, this.#absolute(path));
    } else if (type === 'file' || type === 'contiguous-file') {
      this.#remove(path);
      const file = createWriteStream(this.#absolute(path), { flags: 'wx', mode: 0o600 });
      await pipeline(content, file);
      this.#describe(path, header);
    }
    content.resume();
  }

  #describe(path: string, { mode, uid = 0, gid = 0, mtime, type }: Headers): void {
    const at = this.#absolute(path);
    try {
      lchownSync(at, uid, gid);
    } catch (error) {
      // Without the right to it, this process is whom programs run as.
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    }
    // After the owner, whose change drops some of it.
    if (type !== 'symlink' && mode !== undefined) chmodSync(at, mode & 0o7777);
    if (mtime) lutimesSync(at, mtime, mtime);
  }

  /** One that an entry is in must be a real one; an entry of its own replaces what is there. */
  #makeFolder(path: string, { replaces = false } = {}): void {
    if (this.#folders.has(path)) return;
    this.#makeFolder(dirname(path));
    const at = this.#absolute(path);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found && !found.isDirectory()) {
      if (!replaces) throw new Error(`${path} is not a folder, but a layer has files in it.`);
      unlinkSync(at);
    }
    if (!found?.isDirectory()) mkdirSync(at, { mode: 0o755 });
    this.#folders.add(path);
  }

  /** With all that is in it; nothing if there is none. */
  #remove(path: string): void {
    const at = this.#absolute(path);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (!found) return;
    if (!found.isDirectory()) return unlinkSync(at);
    for (const name of readdirSync(at)) this.#remove(join(path, name));
    rmdirSync(at);
    this.#folders.delete(path);
  }

  /** The absolute path of a regular file that is there. */
  #file(name: string): string {
    const path = checked(name);
    this.#makeFolder(dirname(path));
    const at = this.#absolute(path);
    if (!lstatSync(at).isFile()) throw new Error(`${path} is not a file, but a layer links to it.`);
    return at;
  }

  /** Whether something is mounted there, or above it. */
  #isCovered(path: string): boolean {
    if (path === '.') return false;
    return this.files.mounted.has(join(this.files.root, path)) || this.#isCovered(dirname(path));
  }

  #absolute(path: string): string {
    const at = join(this.files.root, path);
    if (this.files.mounted.has(at)) throw new Error(`${at} is mounted: a layer cannot change it.`);
    return at;
  }
}

/** A path below the root. */
function checked(name: string): string {
  const parts = name.replace(/\/$/, '').split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    throw new Error(`A layer names ${JSON.stringify(name)}, which is not a path of an image.`);
  return parts.join('/');
}
