import { isUtf8 } from 'node:buffer';
import { AppError } from '@belay/protocol';
import { splitLines } from './lines.js';

/** Like git: a NUL among the first bytes makes a file binary. */
const probe = 8_000;

export const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, probe).includes(0);

/** Detects UTF-16 by its byte order mark. */
export const isUtf16 = (bytes: Uint8Array): boolean =>
  (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);

export function requireText(bytes: Uint8Array, given: string): void {
  if (!isBinary(bytes)) return;
  throw new AppError(
    'invalid_input',
    isUtf16(bytes)
      ? `${given} is text in UTF-16, which cannot be read as text: read it with encoding base64.`
      : `${given} is a binary file: read or write it with encoding base64.`,
  );
}

/** Throws if U+FFFD shown in place of invalid bytes would be written back over them. */
export function requireFaithful(before: Uint8Array, content: string, given: string): void {
  if (!content.includes('\ufffd') || isUtf8(before)) return;
  throw new AppError(
    'invalid_input',
    `${given} is not UTF-8 and the new text contains the replacement character U+FFFD: nothing was changed, since bytes would be lost. Write it with encoding base64.`,
  );
}

export const countLines = (bytes: Uint8Array): number =>
  isBinary(bytes) ? 0 : splitLines(Buffer.from(bytes).toString('latin1')).length;
