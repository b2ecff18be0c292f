import { isUtf8 } from 'node:buffer';
import { AppError } from '@belay/protocol';

/**
 * The encoding of a text file: UTF-8, or otherwise windows-1252, which has a character for each byte, so that any
 * content survives an edit. ISO 8859-1 is a part of it.
 */
export type Charset = 'utf8' | 'windows-1252';

/** A file that contains UTF-8 sequences is treated as damaged UTF-8; invalid bytes are shown as U+FFFD. */
const sequences = /[\xc3-\xdf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|[\xf1-\xf4][\x80-\xbf]{3}/;

export const charsetOf = (bytes: Uint8Array): Charset =>
  isUtf8(bytes) || sequences.test(Buffer.from(bytes).toString('latin1')) ? 'utf8' : 'windows-1252';

const decoder = new TextDecoder('windows-1252');

export const decodeText = (bytes: Uint8Array, charset: Charset): string =>
  charset === 'utf8' ? Buffer.from(bytes).toString('utf8') : decoder.decode(bytes);

const bytesOf = new Map(
  Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte] as const),
);

/** Throws `invalid_input` for a character that the file’s encoding does not have. */
export function encodeText(text: string, charset: Charset, given: string): Buffer {
  if (charset === 'utf8') return Buffer.from(text, 'utf8');
  const bytes: number[] = [];
  for (const character of text) {
    const byte = bytesOf.get(character);
    if (byte === undefined) {
      throw new AppError(
        'invalid_input',
        `${given} is not UTF-8 but ${charset}, which has no ${JSON.stringify(character)}: leave it out, or convert the file first. Nothing was changed.`,
      );
    }
    bytes.push(byte);
  }
  return Buffer.from(bytes);
}
