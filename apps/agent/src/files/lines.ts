import { AppError, pluralText, type LineHunk } from '@belay/protocol';
import { charsetOf, decodeText } from './charset.js';

/**
 * Text is held as a string with one character for each byte (`latin1`), so that unedited parts stay the same, whatever
 * their encoding. A line includes its end (LF or CR LF); the last line may have none.
 */
export const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Decodes bytes for a reader; bytes that are not UTF-8 are decoded like the file that they come from. */
export function toText(bytes: string): string {
  const buffer = Buffer.from(bytes, 'latin1');
  return decodeText(buffer, charsetOf(buffer));
}

export const byteOrderMark = '\xef\xbb\xbf';

export const hasByteOrderMark = (bytes: Buffer): boolean =>
  bytes.toString('latin1', 0, byteOrderMark.length) === byteOrderMark;

export function splitLines(bytes: string): string[] {
  const lines = bytes.split('\n');
  const rest = lines.pop() ?? '';
  const ended = lines.map((line) => `${line}\n`);
  return rest === '' ? ended : [...ended, rest];
}

/** The lines of a file, without its byte order mark. */
export function textLines(bytes: Buffer): string[] {
  const text = bytes.toString('latin1');
  return splitLines(text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text);
}

export const lineEnd = (line: string): string =>
  line.endsWith('\r\n') ? '\r\n' : line.endsWith('\n') ? '\n' : '';

export const withoutEnd = (line: string): string =>
  line.slice(0, line.length - lineEnd(line).length);

/** The line end for lines inserted at an index: that of the neighboring lines, otherwise LF. */
export function endAround(lines: readonly string[], index: number): string {
  for (const near of [lines[index], lines[index - 1], lines[0]]) {
    if (near !== undefined && lineEnd(near) !== '') return lineEnd(near);
  }
  return '\n';
}

export interface LineEdit {
  change: 'INSERT' | 'DELETE' | 'REPLACE';
  from: number;
  to?: number | undefined;
  content: readonly string[];
}

type Place = Pick<LineEdit, 'change' | 'from' | 'to'>;

/** Text as bytes in the encoding of a file. */
export type ToBytes = (text: string) => string;

/** The file’s bytes after an edit of its lines, and its place. A file without a final line end keeps that form. */
export function editLines(
  bytes: string,
  edit: LineEdit,
  inBytes: ToBytes = toBytes,
): { bytes: string; hunks: LineHunk[] } {
  const mark = bytes.startsWith(byteOrderMark) ? byteOrderMark : '';
  const lines = splitLines(bytes.slice(mark.length));
  const start = edit.from - 1;
  const count = edit.change === 'INSERT' ? 0 : (edit.to ?? edit.from) - start;
  requireLines(lines.length, edit);
  const end = endAround(lines, start);
  const content = edit.change === 'DELETE' ? [] : contentLines(edit.content, mark, inBytes);
  if (edit.change === 'INSERT' && content.length === 0) {
    throw new AppError('invalid_input', 'There is nothing to insert: `content` is empty.');
  }
  const ended = content.map((line) => `${line}${end}`);
  if (hasOpenEnd(lines) && start + count === lines.length && ended.length > 0) {
    ended.push(withoutEnd(ended.pop() ?? ''));
    closeLine(lines, start - 1, end);
  }
  const after = [...lines.slice(0, start), ...ended, ...lines.slice(start + count)].join('');
  const added = splitLines(after).length - lines.length + count;
  return { bytes: mark + after, hunks: [{ at: edit.from, removed: count, added }] };
}

/** Adds a line end to a line that had none because it was the last. */
export function closeLine(lines: string[], at: number, end: string): void {
  const line = lines[at];
  if (line !== undefined && lineEnd(line) === '') lines[at] = line + end;
}

const hasOpenEnd = (lines: readonly string[]): boolean =>
  lines.length > 0 && lineEnd(lines.at(-1) ?? '') === '';

/** Throws `invalid_input` unless a file with this many lines has those of an edit. */
export function requireLines(length: number, { change, from, to = from }: Place): void {
  const isInsert = change === 'INSERT';
  if ((isInsert ? from - 1 : to) <= length) return;
  const several = to !== from && !isInsert;
  const where = several ? `are no lines ${from}–${to}` : `is no line ${from}`;
  throw new AppError(
    'invalid_input',
    `The file has ${pluralText(length, 'line')}: there ${where} to change.`,
    {
      lines: length,
    },
  );
}

/** Lines from a caller; line ends inside them split lines instead of being doubled. */
function contentLines(content: readonly string[], mark: string, inBytes: ToBytes): string[] {
  const lines = content.flatMap((item) =>
    inBytes(item)
      .replace(/\r?\n$/, '')
      .split(/\r?\n/),
  );
  const [first] = lines;
  if (mark && first?.startsWith(mark)) lines[0] = first.slice(mark.length);
  return lines;
}
