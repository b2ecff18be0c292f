import { tarEnd, tarHeader, tarPadding } from '@belay/client';

/** A file to pack. `path` is relative to the archive and uses `/`. */
export interface TarEntry {
  path: string;
  size: number;
  modified: number;
  executable?: boolean;
  content(): Promise<Uint8Array>;
}

/**
 * Packs files as a tar archive, with one file in memory at a time. `packed` receives the total
 * bytes of content so far.
 */
export function packTar(
  entries: readonly TarEntry[],
  packed: (bytes: number) => void = () => undefined,
): ReadableStream<Uint8Array> {
  const pieces = archive(entries, packed);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

async function* archive(
  entries: readonly TarEntry[],
  packed: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for (const { path, modified, executable, content: read } of entries) {
    const content = await read();
    const mode = executable ? 0o755 : 0o644;
    yield tarHeader({ path, kind: 'file', size: content.length, mode, modified });
    if (content.length) yield content;
    const rest = tarPadding(content.length);
    if (rest) yield new Uint8Array(rest);
    packed((bytes += content.length));
  }
  yield tarEnd();
}
