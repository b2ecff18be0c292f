/** Text in UTF-16 with a byte order mark, which is edited in UTF-8. */

const littleEndian = Buffer.from([0xff, 0xfe]);
const bigEndian = Buffer.from([0xfe, 0xff]);

export const isUtf16 = (bytes: Uint8Array): boolean =>
  littleEndian.equals(bytes.subarray(0, 2)) || bigEndian.equals(bytes.subarray(0, 2));

/** The text of a file in UTF-16 as UTF-8, without the byte order mark; any other bytes as they are. */
export function inUtf8(bytes: Buffer): Buffer {
  if (!isUtf16(bytes)) return bytes;
  const name = littleEndian.equals(bytes.subarray(0, 2)) ? 'utf-16le' : 'utf-16be';
  return Buffer.from(new TextDecoder(name).decode(bytes));
}

/** New text in UTF-8 in the form of the file’s earlier bytes. */
export function inFormOf(before: Uint8Array, text: Buffer): Buffer {
  if (!isUtf16(before)) return text;
  const units = Buffer.from(text.toString('utf8'), 'utf16le');
  const isLittle = littleEndian.equals(before.subarray(0, 2));
  return isLittle
    ? Buffer.concat([littleEndian, units])
    : Buffer.concat([bigEndian, units.swap16()]);
}
