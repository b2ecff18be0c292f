import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@belay/protocol';
import { tarEnd, tarHeader, tarPadding } from '@belay/client';

const limits = { files: 5_000, bytes: 64 * 2 ** 20 };
/** Folders that no action needs, and that may be large or private. */
const leftOut = new Set(['.git', 'node_modules', '__pycache__', '.venv', '.env']);
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The regular files of a folder as a tar archive; links are neither followed nor sent. Throws `too_large`. */
export function packActions(folder: string): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  let files = 0;
  let bytes = 0;
  for (const path of plainFiles(folder, '')) {
    const file = openSync(join(folder, path), flags);
    try {
      const stats = fstatSync(file);
      if (!stats.isFile()) continue;
      files += 1;
      bytes += stats.size;
      if (files > limits.files || bytes > limits.bytes) throw tooLarge(folder);
      const content = readFileSync(file);
      const mode = (stats.mode & 0o111) === 0 ? 0o644 : 0o755;
      const about = { path, kind: 'file' as const, size: content.length, mode, modified: 0 };
      parts.push(tarHeader(about), content, new Uint8Array(tarPadding(content.length)));
    } finally {
      closeSync(file);
    }
  }
  return new Uint8Array(Buffer.concat([...parts, tarEnd()]));
}

function* plainFiles(root: string, folder: string): Generator<string> {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (leftOut.has(entry.name)) continue;
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (entry.isDirectory()) yield* plainFiles(root, path);
    else if (entry.isFile()) yield path;
  }
}

const tooLarge = (folder: string): AppError =>
  new AppError(
    'too_large',
    `${folder} has more than ${limits.files} files or ${limits.bytes / 2 ** 20} MiB: name the folder of the action alone.`,
  );
