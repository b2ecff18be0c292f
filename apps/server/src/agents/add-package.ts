import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { AppError, numberText } from '@belay/protocol';
import { extract, type Pack } from 'tar-stream';

/** The limits of one package: twice what the largest one has. */
const limits = { files: 50_000, bytes: 2 ** 30, pathBytes: 1_000 };

/**
 * Adds the files of a package's archive to another archive, below `folder`. Only plain files come through, below the
 * archive's single folder, which every registry names otherwise; they belong to root, and no bit makes a program run
 * as another user. Of two files with one name, the later one counts, as in npm. Throws `forbidden` or `too_large` for any other content.
 */
export async function addPackage(
  archive: Pack,
  folder: string,
  { file, signal }: { file: string; signal: AbortSignal },
): Promise<void> {
  const reader = extract();
  let files = 0;
  reader.on('entry', (header, entry, next) => {
    const { name, type, size = 0, mode = 0 } = header;
    const refuse = (error: Error): void => void reader.destroy(error);
    if (type === 'directory') {
      entry.once('end', next);
      return void entry.resume();
    }
    if (type !== 'file') return refuse(refused(`${shown(name)} is a ${type}`));
    // An absolute name has nothing before its first slash.
    const [top, ...parts] = name.split('/');
    // Some packers write `package/./index.js`.
    const path = parts.filter((part) => part !== '.').join('/');
    if (!top || !isPlain(path)) return refuse(refused(`it has a file at ${shown(name)}`));
    if (++files > limits.files) return refuse(tooMany);
    const about = { uid: 0, gid: 0, mtime: new Date(0), mode: mode & 0o111 ? 0o755 : 0o644, size };
    const written = archive.entry({ ...about, name: `${folder}/${path}` }, (error) => {
      if (error) refuse(error);
      else next();
    });
    entry.pipe(written);
  });
  try {
    await pipeline(createReadStream(file), createGunzip(), atMost(limits.bytes), reader, {
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppError) throw error;
    throw refused('it is not a tar archive');
  }
}

function atMost(bytes: number): Transform {
  let left = bytes;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      left -= piece.length;
      done(left < 0 ? tooLarge : null, piece);
    },
  });
}

function isPlain(path: string): boolean {
  const parts = path.split('/');
  const leadsOut = parts.some((part) => part === '' || part === '.' || part === '..');
  const isOdd = /[\p{Cc}\\]/u.test(path) || path.includes('\uFFFD');
  return !leadsOut && !isOdd && Buffer.byteLength(path) <= limits.pathBytes;
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 200));

const refused = (why: string): AppError =>
  new AppError('forbidden', `A package cannot be unpacked: ${why}. Nothing was installed.`);
const tooMany = new AppError(
  'too_large',
  `A package has more than ${numberText(limits.files)} files. Nothing was installed.`,
);
const tooLarge = new AppError(
  'too_large',
  `A package is larger than ${limits.bytes / 2 ** 30} GiB. Nothing was installed.`,
);
