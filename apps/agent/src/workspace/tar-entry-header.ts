import { AppError } from '@belay/protocol';

export const blockBytes = 512;

/** The header of one entry. Names are bytes, stored as latin1 text. */
export interface TarEntryHeader {
  /** `0` is a file, `1` a hard link, `2` a link, `5` a folder; others are unchanged. */
  type: string;
  name: string;
  link: string;
  size: number;
  mode: number;
  /** In seconds. */
  time: number;
}

/**
 * Reads the header from a block of 512 bytes; undefined for a block of zeros. Throws `invalid_input` for an invalid
 * one.
 */
export function readHeader(block: Buffer): TarEntryHeader | undefined {
  let sum = 8 * 32;
  for (let at = 0; at < blockBytes; at++) if (at < 148 || at > 155) sum += block[at] ?? 0;
  if (sum === 8 * 32) return undefined;
  if (sum !== number(block, 148, 8)) {
    throw new AppError(
      'invalid_input',
      'The archive cannot be unpacked: it is not an uncompressed tar archive, or it is damaged.',
    );
  }
  const isPosix = block.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isPosix ? text(block, 345, 155) : '';
  const name = text(block, 0, 100);
  const flag = String.fromCharCode(block[156] ?? 0);
  return {
    type: flag === '\0' || flag === '7' ? '0' : flag,
    name: prefix === '' ? name : `${prefix}/${name}`,
    link: text(block, 157, 100),
    size: number(block, 124, 12),
    mode: number(block, 100, 8),
    time: number(block, 136, 12),
  };
}

/** Writes the header like GNU tar, long names first, without owner and without bits such as setuid. */
export function writeHeader({ type, name, link, size, mode, time }: TarEntryHeader): Buffer[] {
  const bytes = [...longName('L', name), ...longName('K', link)];
  const block = Buffer.alloc(blockBytes);
  block.write(name.slice(0, 100), 0, 'latin1');
  block.write(octal(mode & 0o777, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(time >= 0 && time < 8 ** 11 ? time : 0, 11), 136);
  block.write('        ', 148);
  block.write(type, 156);
  block.write(link.slice(0, 100), 157, 'latin1');
  block.write('ustar  \0', 257, 'latin1');
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${octal(sum, 6)}\0 `, 148);
  return [...bytes, block];
}

/** Pax records, each `LENGTH key=value\n`; undefined if they are invalid. */
export function readRecords(bytes: string): Map<string, string> | undefined {
  const found = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const [start, digits] = /^(\d{1,7}) /.exec(bytes.slice(at, at + 9)) ?? [];
    const record = bytes.slice(at, at + Number(digits));
    const middle = record.indexOf('=');
    if (!start || middle < 0 || !record.endsWith('\n') || record.length !== Number(digits))
      return undefined;
    found.set(record.slice(start.length, middle), record.slice(middle + 1, -1));
    at += record.length;
  }
  return found;
}

function longName(type: 'L' | 'K', name: string): Buffer[] {
  if (name.length <= 100) return [];
  const content = Buffer.alloc(Math.ceil((name.length + 1) / blockBytes) * blockBytes);
  content.write(name, 'latin1');
  const about = { link: '', size: name.length + 1, mode: 0, time: 0 };
  return [...writeHeader({ ...about, type, name: '././@LongLink' }), content];
}

const octal = (value: number, width: number): string =>
  Math.floor(value).toString(8).padStart(width, '0');

function text(block: Buffer, at: number, length: number): string {
  const bytes = block.toString('latin1', at, at + length);
  const end = bytes.indexOf('\0');
  return end < 0 ? bytes : bytes.slice(0, end);
}

/** A number in octal digits, or in base 256 if its first bit is set; NaN for anything else. */
function number(block: Buffer, at: number, length: number): number {
  const first = block[at] ?? 0;
  if (first === 0x80) {
    let value = 0;
    for (const byte of block.subarray(at + 1, at + length)) value = value * 256 + byte;
    return value;
  }
  const digits = block.toString('latin1', at, at + length).replaceAll(/^[ \0]+|[ \0].*$/gs, '');
  if (digits === '') return 0;
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : NaN;
}
