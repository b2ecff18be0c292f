/** A file to pack: its path inside the archive, with `/` between folders. */
export interface TarEntry {
  path: string;
  size: number;
  modified: number;
  executable?: boolean;
  content(): Promise<Uint8Array>;
}

const block = 512;

/**
 * Packs files as a tar archive (POSIX ustar, with pax headers for long or non-ASCII paths),
 * one file in memory at a time.
 */
export function packTar(entries: readonly TarEntry[]): ReadableStream<Uint8Array> {
  const pieces = archive(entries);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

async function* archive(entries: readonly TarEntry[]): AsyncGenerator<Uint8Array> {
  for (const entry of entries) {
    const content = await entry.content();
    if (!fitsUstar(entry.path)) yield* paxHeader(entry);
    yield header(entry, content.length, '0');
    yield* padded(content);
  }
  yield new Uint8Array(2 * block);
}

const fitsUstar = (path: string): boolean =>
  // oxlint-disable-next-line no-control-regex -- the range is ASCII
  path.length <= 100 && /^[\x20-\x7e]*$/.test(path);

function* paxHeader(entry: TarEntry): Generator<Uint8Array> {
  const body = encode(paxRecord('path', entry.path));
  yield header({ ...entry, path: 'PaxHeader' }, body.length, 'x');
  yield* padded(body);
}

/** `LENGTH key=value\n`, where the length counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const size = encode(rest).length;
  let length = size + String(size).length;
  if (String(length).length > String(size).length) length += 1;
  return `${length}${rest}`;
}

function header({ path, modified, executable }: TarEntry, size: number, type: string): Uint8Array {
  const bytes = new Uint8Array(block);
  const put = (offset: number, text: string) => bytes.set(encode(text), offset);
  const octal = (value: number, width: number) =>
    Math.floor(value).toString(8).padStart(width, '0');
  // oxlint-disable-next-line no-control-regex -- what is not ASCII stands in the pax header
  put(0, path.replace(/[^\x20-\x7e]/g, '_').slice(0, 100));
  put(100, `${executable ? '0000755' : '0000644'}\0`);
  put(108, '0001750\0');
  put(116, '0001750\0');
  put(124, `${octal(size, 11)}\0`);
  put(136, `${octal(modified / 1_000, 11)}\0`);
  put(148, ' '.repeat(8));
  put(156, type);
  put(257, 'ustar\x0000');
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  put(148, `${octal(sum, 6)}\0 `);
  return bytes;
}

function* padded(content: Uint8Array): Generator<Uint8Array> {
  if (content.length) yield content;
  const rest = content.length % block;
  if (rest) yield new Uint8Array(block - rest);
}

const encoder = new TextEncoder();
const encode = (text: string): Uint8Array => encoder.encode(text);
