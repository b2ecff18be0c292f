import { isUtf8 } from 'node:buffer';
import { AppError } from '@belay/protocol';
import { splitLines } from './lines.js';
import { inUtf8, isUtf16 } from './utf16.js';

/** Like git: a NUL among the first bytes makes a file binary. */
const probe = 8_000;

export const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, probe).includes(0);

export function requireText(bytes: Uint8Array, given: string): void {
  if (!isBinary(bytes)) return;
  throw new AppError(
    'invalid_input',
    isUtf16(bytes)
      ? `${given} is text in UTF-16, which cannot be patched: edit it with files.replace-text or files.edit.`
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

export function countLines(bytes: Buffer): number {
  const text = inUtf8(bytes);
  return isBinary(text) ? 0 : splitLines(text.toString('latin1')).length;
}

/** Throws `invalid_input` for anything else. */
export function bytesOfBase64(content: string): Buffer {
  const text = content.replace(/\s/g, '');
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw new AppError('invalid_input', 'The content is not base64; nothing was written.');
  }
  return Buffer.from(text, 'base64');
}
