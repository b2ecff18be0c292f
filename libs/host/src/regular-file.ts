import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { AppError } from '@belay/protocol';

/** Opening and reading never wait for a writer, a line or a device, which would occupy a thread of the process. */
const withoutWaiting = constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * The content of a regular file that a name from outside chose. Throws the system’s error when it cannot be opened or
 * read, `invalid_input` for anything but a regular file, `too_large` above `maxBytes`.
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer> {
  const file = await openRegularFile(path, constants.O_RDONLY);
  try {
    const pieces: Buffer[] = [];
    let size = 0;
    for (;;) {
      // The stated size is no limit: that of files in /proc is 0, and others may grow.
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(pieceBytes) });
      if (bytesRead === 0) return Buffer.concat(pieces, size);
      size += bytesRead;
      if (size > maxBytes) throw tooLarge(path, maxBytes);
      pieces.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

const pieceBytes = 64 * 1024;

/** Opens a regular file, with the flags of `open(2)`; whoever opens it closes it. Throws as `readRegularFile` does. */
export async function openRegularFile(path: string, flags: number): Promise<FileHandle> {
  const file = await open(path, flags | withoutWaiting);
  const isRegular = await file.stat().then(
    (found) => found.isFile(),
    () => false,
  );
  if (isRegular) return file;
  await file.close();
  throw new AppError('invalid_input', `${path} is not a regular file: name another one.`);
}

const tooLarge = (path: string, maxBytes: number): AppError =>
  new AppError(
    'too_large',
    `${path} has more than ${maxBytes / 2 ** 20} MiB: name a smaller file.`,
  );
