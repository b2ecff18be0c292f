import { AppError } from '@belay/protocol';
import { charsetOf, encodeText } from './charset.js';
import { isBinary, isUtf16 } from './text.js';

const mark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Converts a file’s new text to its existing format: its encoding, its byte order mark, and CR LF if all its lines end
 * so. `kept` names what was added to the given text.
 */
export function keepForm(
  before: Buffer,
  content: string,
  given: string,
): { bytes: Buffer; kept: string[] } {
  if (isUtf16(before)) {
    throw new AppError(
      'invalid_input',
      `${given} is text in UTF-16: write it with encoding base64, or set \`overwrite\` to make it UTF-8. Nothing was changed.`,
    );
  }
  if (before.length === 0 || isBinary(before)) return { bytes: Buffer.from(content), kept: [] };
  const kept: string[] = [];
  const charset = charsetOf(before);
  let text = content;
  if (content.includes('\n') && !content.includes('\r') && endsInCrLf(before)) {
    text = content.replaceAll('\n', '\r\n');
    kept.push('CR LF line ends');
  }
  let bytes = encodeText(text, charset, given);
  if (charset !== 'utf8' && !bytes.equals(Buffer.from(text))) kept.push(`encoding ${charset}`);
  if (before.subarray(0, 3).equals(mark) && !bytes.subarray(0, 3).equals(mark)) {
    bytes = Buffer.concat([mark, bytes]);
    kept.push('byte order mark');
  }
  return { bytes, kept };
}

function endsInCrLf(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  return text.includes('\r\n') && !/(?:^|[^\r])\n/.test(text);
}
