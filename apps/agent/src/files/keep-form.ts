import { charsetOf, encodeText } from './charset.js';
import { byteOrderMark, hasByteOrderMark } from './lines.js';
import { isBinary } from './text.js';
import { inFormOf, inUtf8, isUtf16 } from './utf16.js';

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
    const ends = endingAs(inUtf8(before), content);
    return {
      bytes: inFormOf(before, Buffer.from(ends.text)),
      kept: [...ends.kept, 'encoding UTF-16'],
    };
  }
  if (before.length === 0 || isBinary(before)) return { bytes: Buffer.from(content), kept: [] };
  const { text, kept } = endingAs(before, content);
  const charset = charsetOf(before);
  let bytes = encodeText(text, charset, given);
  if (charset !== 'utf8' && !bytes.equals(Buffer.from(text))) kept.push(`encoding ${charset}`);
  if (hasByteOrderMark(before) && !hasByteOrderMark(bytes)) {
    bytes = Buffer.concat([Buffer.from(byteOrderMark, 'latin1'), bytes]);
    kept.push('byte order mark');
  }
  return { bytes, kept };
}

/** The text with CR LF, if all lines of the file end so. */
function endingAs(before: Buffer, content: string): { text: string; kept: string[] } {
  const isPlain = content.includes('\n') && !content.includes('\r');
  return isPlain && endsInCrLf(before)
    ? { text: content.replaceAll('\n', '\r\n'), kept: ['CR LF line ends'] }
    : { text: content, kept: [] };
}

function endsInCrLf(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  return text.includes('\r\n') && !/(?:^|[^\r])\n/.test(text);
}
