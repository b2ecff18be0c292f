import { tarEnd, tarHeader, tarPadding } from '@belay/client';

/** A file to pack. `path` is relative to the archive and uses `/`. */
export interface TarFile {
  path: string;
  content: Blob;
  /** Milliseconds since the epoch. */
  modified: number;
  executable?: boolean;
  /** An empty folder instead of a file. */
  folder?: boolean;
}

/**
 * Packs files as a tar archive that only refers to their contents: the browser reads them from the
 * disk while it sends the archive, which fails if one of them changed meanwhile.
 */
export function packTar(files: readonly TarFile[]): Blob {
  const parts: BlobPart[] = [];
  for (const { path, content, modified, executable, folder } of files) {
    const mode = executable || folder ? 0o755 : 0o644;
    const kind = folder ? 'folder' : 'file';
    parts.push(tarHeader({ path, kind, size: content.size, mode, modified }));
    parts.push(content, new Uint8Array(tarPadding(content.size)));
  }
  return new Blob([...parts, tarEnd()], { type: 'application/x-tar' });
}

/** The first file that can no longer be read as it was when it was chosen. */
export async function unreadableFile(files: readonly TarFile[]): Promise<string | undefined> {
  for (const { path, content } of files) {
    const isSame = await content
      .slice(0, 1)
      .arrayBuffer()
      .then(
        () => true,
        () => false,
      );
    if (!isSame) return path;
  }
  return undefined;
}
