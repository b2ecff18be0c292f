/** An entry of a tar archive; `/` separates the folders of its path. */
export interface TarHeader {
  path: string;
  kind: 'file' | 'folder' | 'link';
  size: number;
  /** Only permissions. */
  mode: number;
  /** Milliseconds since the epoch. */
  modified: number;
  /** The target of a link. */
  target?: string;
}

const block = 512;
/** The end of an archive. */
export const tarEnd = (): Uint8Array<ArrayBuffer> => new Uint8Array(2 * block);

/** A POSIX ustar header, after a pax header for a long or non-ASCII path or target. */
export function tarHeader(entry: TarHeader): Uint8Array<ArrayBuffer> {
  const { path, target = '' } = entry;
  const records = [
    ...(fitsUstar(path) ? [] : [paxRecord('path', path)]),
    ...(fitsUstar(target) ? [] : [paxRecord('linkpath', target)]),
  ];
  const own = header(entry, kinds[entry.kind]);
  if (records.length === 0) return own;
  const body = encode(records.join(''));
  const about = { ...entry, path: 'PaxHeader', target: '', size: body.length, mode: 0o644 };
  const before = Math.ceil(body.length / block) * block;
  const all = new Uint8Array(2 * block + before);
  all.set(header(about, 'x'));
  all.set(body, block);
  all.set(own, block + before);
  return all;
}

/** Bytes that fill the content’s last block. */
export const tarPadding = (size: number): number => (block - (size % block)) % block;

const kinds = { file: '0', link: '2', folder: '5' } as const;

const fitsUstar = (path: string): boolean =>
  // oxlint-disable-next-line no-control-regex -- the range is ASCII
  path.length <= 100 && /^[\x20-\x7e]*$/.test(path);

/** `LENGTH key=value\n`; the length includes itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const size = encode(rest).length;
  let length = size + String(size).length;
  if (String(length).length > String(size).length) length += 1;
  return `${length}${rest}`;
}

function header(
  { path, size, mode, modified, target = '' }: TarHeader,
  type: string,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(block);
  const put = (offset: number, text: string) => encoder.encodeInto(text, bytes.subarray(offset));
  put(0, inUstar(path));
  put(100, `${octal(mode & 0o777, 7)}\0`);
  put(108, '0001750\0');
  put(116, '0001750\0');
  put(124, `${octal(size, 11)}\0`);
  put(136, `${octal(Math.max(0, modified / 1_000), 11)}\0`);
  put(148, '        ');
  put(156, type);
  put(157, inUstar(target));
  put(257, 'ustar\x0000');
  let sum = 0;
  for (const byte of bytes) sum += byte;
  put(148, `${octal(sum, 6)}\0 `);
  return bytes;
}

/** The pax header has the text that is not ASCII. */
const inUstar = (path: string): string =>
  // oxlint-disable-next-line no-control-regex
  path.replace(/[^\x20-\x7e]/g, '_').slice(0, 100);

const octal = (value: number, width: number): string =>
  Math.floor(value).toString(8).padStart(width, '0');

const encoder = new TextEncoder();
const encode = (text: string): Uint8Array => encoder.encode(text);
