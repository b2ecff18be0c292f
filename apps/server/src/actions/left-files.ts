import type { Readable } from 'node:stream';
import { programFile } from '@belay/protocol';
import { ByteReader } from '../storage/byte-reader.js';

export interface LeftFile {
  name: string;
  bytes: Buffer;
}

export const leftFileLimits = { files: 20, bytes: 16 * 2 ** 20, inAll: 48 * 2 ** 20 } as const;
const longestHead = 2_000;

export interface LeftFiles {
  files: LeftFile[];
  /** Why some files were not taken, as a sentence. */
  fault: string | null;
}

/**
 * Reads the files that a program leaves, which come from its container and are untrusted: each is a line of JSON with
 * its name and size, followed by its bytes. Never rejects; files beyond the limits are left out, and the stream is
 * ended.
 */
export async function readLeftFiles(stream: Readable): Promise<LeftFiles> {
  const files: LeftFile[] = [];
  const fault = await readInto(files, new ByteReader(stream)).catch(
    () => 'Its files cannot be read.',
  );
  stream.destroy();
  return { files, fault };
}

async function readInto(files: LeftFile[], reader: ByteReader): Promise<string | null> {
  let inAll = 0;
  for (;;) {
    const head = await reader.line(longestHead);
    if (head === undefined) return null;
    const { name, bytes } = programFile.parse(JSON.parse(head));
    if (files.length >= leftFileLimits.files)
      return `Only ${leftFileLimits.files} files of a call are kept.`;
    inAll += bytes;
    if (bytes > leftFileLimits.bytes || inAll > leftFileLimits.inAll)
      return `${plainName(name)} is too large: a file may have 16 MiB, all files together 48 MiB.`;
    if (!(await reader.has(bytes))) return 'A file was cut off.';
    files.push({ name: plainName(name), bytes: reader.take(bytes) });
  }
}

/** A file name without folders or misleading characters. */
export function plainName(name: string): string {
  const plain = name.replaceAll(/[\p{C}\p{Zl}\p{Zp}/\\]/gu, '_').replace(/^\.+/, '_');
  return plain.slice(0, 200).toWellFormed() || '_';
}
