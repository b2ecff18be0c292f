import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { AppError } from '@belay/protocol';

/** A line that is not blank, with its position in the file. */
export interface Line {
  number: number;
  bytes: Buffer;
  offset: number;
  /** False if the last line has no line end, for example because a crash truncated it. */
  ended: boolean;
}

const byteOrderMark = Buffer.from('\uFEFF');
const chunkBytes = 2 ** 20;
/** The maximum length of a string in V8. */
const maxLineBytes = 2 ** 29 - 1;
const maxUnzipped = 2 ** 31;

/**
 * The non-blank lines of a file of any size. Only one line is in memory at a time, except for
 * gzipped files, which are unpacked as a whole. Throws `invalid_input` with a sentence when the
 * file cannot be read.
 */
export function* linesIn(path: string): Generator<Line> {
  let number = 0;
  let offset = 0;
  let parts: Buffer[] = [];
  let size = 0;
  const line = (last: Buffer, ended: boolean): Line | undefined => {
    const bytes = parts.length > 0 ? Buffer.concat([...parts, last]) : last;
    const found = { number: ++number, bytes, offset, ended };
    offset += bytes.length + 1;
    parts = [];
    size = 0;
    return bytes.some((byte) => !isSpace(byte)) ? found : undefined;
  };
  for (const given of chunksOf(path)) {
    // Editors on Windows write a byte order mark, which JSON does not have.
    const isMarked = offset === 0 && parts.length === 0 && given.indexOf(byteOrderMark) === 0;
    const chunk = isMarked ? given.subarray(byteOrderMark.length) : given;
    if (isMarked) offset = byteOrderMark.length;
    let from = 0;
    for (let at; (at = chunk.indexOf(0x0a, from)) >= 0; from = at + 1) {
      const found = line(chunk.subarray(from, at), true);
      if (found) yield found;
    }
    const rest = chunk.subarray(from);
    size += rest.length;
    if (size > maxLineBytes)
      throw new AppError(
        'invalid_input',
        `${path}, line ${number + 1}, has more than 512 MiB. Split it.`,
      );
    if (rest.length > 0) parts.push(Buffer.from(rest));
  }
  const found = size > 0 && line(Buffer.alloc(0), false);
  if (found) yield found;
}

/** A range of a file that is not gzipped, such as one line. */
export function partOf(
  path: string,
  { offset, length }: { offset: number; length: number },
): Buffer {
  const file = opened(path);
  const bytes = Buffer.alloc(length);
  try {
    let read = 0;
    while (read < length) {
      const more = readSync(file, bytes, read, length - read, offset + read);
      if (more === 0)
        throw new AppError(
          'conflict',
          `${path} has become shorter since it was first read. Restore it.`,
        );
      read += more;
    }
    return bytes;
  } finally {
    closeSync(file);
  }
}

export function isZipped(path: string): boolean {
  const [first] = chunksOf(path, 2);
  return first?.[0] === 0x1f && first[1] === 0x8b;
}

/** A file’s content in chunks; a gzipped file is unpacked. */
function* chunksOf(path: string, most = chunkBytes): Generator<Buffer> {
  const file = opened(path);
  try {
    const chunk = Buffer.alloc(most);
    for (let read; (read = readSync(file, chunk)) > 0;) {
      const isFirst = most === chunkBytes && chunk[0] === 0x1f && chunk[1] === 0x8b;
      if (isFirst) return yield* unzipped(path);
      yield chunk.subarray(0, read);
    }
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    closeSync(file);
  }
}

function* unzipped(path: string): Generator<Buffer> {
  try {
    yield gunzipSync(readFileSync(path), { maxOutputLength: maxUnzipped });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw error;
    throw new AppError(
      'invalid_input',
      `${path} unpacks to more than 2 GiB. Unpack it first, or split it.`,
    );
  }
}

function opened(path: string): number {
  try {
    if (statSync(path).isDirectory())
      throw new AppError('invalid_input', `${path} is a folder. Name the file in it.`);
    return openSync(path, 'r');
  } catch (error) {
    throw unreadable(path, error);
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'cannot be read by this user',
  EPERM: 'cannot be read by this user',
  ENAMETOOLONG: 'has a name that is too long for this system',
  ELOOP: 'is a link to itself',
  Z_DATA_ERROR: 'is a damaged gzip file',
  Z_BUF_ERROR: 'is a truncated gzip file',
};

/** One sentence for a file that cannot be read. */
export function unreadable(path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return new AppError(
    'invalid_input',
    `${shown} ${reasons[code] ?? `cannot be read: ${message}`}.`,
  );
}

const isSpace = (byte: number) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
