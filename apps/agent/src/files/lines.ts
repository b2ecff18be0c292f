import { AppError } from '@belay/protocol';

/**
 * Text is held here as a string with one character for each byte (`latin1`), so that what is not edited stays as
 * it is, whatever its encoding. A line includes its end (LF or CR LF); the last one may have none.
 */
export const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
export const toText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

export const byteOrderMark = '\xef\xbb\xbf';

export function splitLines(bytes: string): string[] {
  const lines = bytes.split('\n');
  const rest = lines.pop() ?? '';
  const ended = lines.map((line) => `${line}\n`);
  return rest === '' ? ended : [...ended, rest];
}

export const endOf = (line: string): string =>
  line.endsWith('\r\n') ? '\r\n' : line.endsWith('\n') ? '\n' : '';

export const withoutEnd = (line: string): string => line.slice(0, line.length - endOf(line).length);

/** The line end that new lines at an index take: that of the lines around, else LF. */
export function endAround(lines: readonly string[], index: number): string {
  for (const near of [lines[index], lines[index - 1], lines[0]]) {
    if (near !== undefined && endOf(near) !== '') return endOf(near);
  }
  return '\n';
}

export interface LineEdit {
  change: 'INSERT' | 'DELETE' | 'REPLACE';
  from: number;
  to?: number | undefined;
  content: readonly string[];
}

/** The file's bytes after an edit of its lines. A file without a final line end stays so. */
export function editLines(bytes: string, edit: LineEdit): string {
  const mark = bytes.startsWith(byteOrderMark) ? byteOrderMark : '';
  const lines = splitLines(bytes.slice(mark.length));
  const start = edit.from - 1;
  const count = edit.change === 'INSERT' ? 0 : (edit.to ?? edit.from) - start;
  requireRange(lines.length, edit, start + count);
  const end = endAround(lines, start);
  const added = edit.change === 'DELETE' ? [] : contentLines(edit.content, mark);
  if (edit.change === 'INSERT' && added.length === 0) {
    throw new AppError('invalid_input', 'There is nothing to insert: `content` is empty.');
  }
  const openEnd = lines.length > 0 && endOf(lines.at(-1) ?? '') === '';
  const ended = added.map((line) => `${line}${end}`);
  const reachesEnd = start + count === lines.length;
  if (openEnd && reachesEnd && ended.length > 0) {
    ended.push(withoutEnd(ended.pop() ?? ''));
    const before = lines[start - 1];
    if (before !== undefined && endOf(before) === '') lines[start - 1] = before + end;
  }
  lines.splice(start, count, ...ended);
  return mark + lines.join('');
}

function requireRange(length: number, edit: LineEdit, last: number): void {
  const limit = edit.change === 'INSERT' ? length + 1 : length;
  const wanted = edit.change === 'INSERT' ? edit.from : last;
  if (edit.from <= limit && wanted <= limit) return;
  const lines = length === 1 ? '1 line' : `${length} lines`;
  const several = edit.to !== undefined && edit.to !== edit.from && edit.change !== 'INSERT';
  const where = several ? `are no lines ${edit.from}–${edit.to}` : `is no line ${edit.from}`;
  throw new AppError('invalid_input', `The file has ${lines}: there ${where} to change.`, {
    lines: length,
  });
}

/** Lines that a caller sent: line ends inside are taken as such rather than doubled. */
function contentLines(content: readonly string[], mark: string): string[] {
  const lines = content.flatMap((item) =>
    toBytes(item)
      .replace(/\r?\n$/, '')
      .split(/\r?\n/),
  );
  const [first] = lines;
  if (mark && first?.startsWith(mark)) lines[0] = first.slice(mark.length);
  return lines;
}
