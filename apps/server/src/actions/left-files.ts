import type { Readable } from 'node:stream';
import { programFile, type ProgramFile } from '@belay/protocol';

export interface LeftFile {
  name: string;
  bytes: Buffer;
}

export const leftFileLimits = { files: 20, bytes: 16 * 2 ** 20, inAll: 48 * 2 ** 20 } as const;
const longestHead = 2_000;

export interface LeftFiles {
  files: LeftFile[];
  /** Why some were not taken, in a sentence. */
  fault: string | null;
}

/**
 * Reads the files that a program leaves, which come from its container and are hostile: each is a line of JSON with its
 * name and size, then its bytes. Never rejects; what is beyond the limits is left out, and the stream ended.
 */
export async function readLeftFiles(stream: Readable): Promise<LeftFiles> {
  const files: LeftFile[] = [];
  const end = (fault: string | null): LeftFiles => {
    stream.destroy();
    return { files, fault };
  };
  let waiting: Buffer = Buffer.alloc(0);
  let file: (ProgramFile & { parts: Buffer[]; missing: number }) | null = null;
  let inAll = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      waiting = waiting.length > 0 ? Buffer.concat([waiting, chunk]) : chunk;
      while (waiting.length > 0 || file?.missing === 0) {
        if (file === null) {
          const at = waiting.indexOf(10);
          if ((at < 0 ? waiting.length : at) > longestHead) return end('Its files cannot be read.');
          if (at < 0) break;
          const head = programFile.parse(JSON.parse(waiting.toString('utf8', 0, at)));
          waiting = waiting.subarray(at + 1);
          if (files.length >= leftFileLimits.files)
            return end(`Only ${leftFileLimits.files} files of a call are kept.`);
          inAll += head.bytes;
          if (head.bytes > leftFileLimits.bytes || inAll > leftFileLimits.inAll)
            return end(
              `${plainName(head.name)} is too large: a file may have 16 MiB, all of them 48.`,
            );
          file = { ...head, parts: [], missing: head.bytes };
        }
        const part = waiting.subarray(0, file.missing);
        waiting = waiting.subarray(part.length);
        file.parts.push(part);
        file.missing -= part.length;
        if (file.missing > 0) break;
        files.push({ name: plainName(file.name), bytes: Buffer.concat(file.parts) });
        file = null;
      }
    }
  } catch {
    return end('Its files cannot be read.');
  }
  return end(file ? 'A file was cut off.' : null);
}

/** A name that neither leads anywhere nor shows itself as another one. */
export function plainName(name: string): string {
  const plain = name.replaceAll(/[\p{C}\p{Zl}\p{Zp}/\\]/gu, '_').replace(/^\.+/, '_');
  return plain.slice(0, 200).toWellFormed() || '_';
}
