export interface MarkdownTarget {
  address: string;
  /** The index after it. */
  end: number;
}

/** The `(address "title")` of a link; `limit` is the end of what may be looked at. */
export function linkTargetAt(text: string, at: number, limit: number): MarkdownTarget | undefined {
  if (text[at] !== '(') return undefined;
  const { address, end } = addressAt(text, skip(text, at + 1, /\s*/y));
  const afterSpaces = skip(text, end, /\s*/y);
  if (afterSpaces >= limit) return undefined;
  if (text[afterSpaces] === ')') return { address, end: afterSpaces + 1 };
  if (afterSpaces === end) return undefined;
  const title = titleEnd(text, afterSpaces, limit);
  const close = title === undefined ? undefined : skip(text, title, /\s*/y);
  return close !== undefined && text[close] === ')' ? { address, end: close + 1 } : undefined;
}

export interface LinkDefinition extends MarkdownTarget {
  label: string;
}

/** The definition `[label]: address "title"` at this index, which pages do not show. */
export function linkDefinitionAt(text: string, at: number): LinkDefinition | undefined {
  definitionStart.lastIndex = at;
  const start = definitionStart.exec(text);
  const label = start?.[1];
  if (start === null || label === undefined) return undefined;
  const { address, end } = addressAt(text, at + start[0].length, true);
  if (end === at + start[0].length) return undefined;
  const afterSpaces = skip(text, end, /[ \t]*(?:\n[ \t]*)?/y);
  const title = afterSpaces > end ? titleEnd(text, afterSpaces, text.length) : undefined;
  const ends = [title, end].flatMap((from) => {
    const lineEnd = from === undefined ? undefined : skip(text, from, /[ \t]*/y);
    return lineEnd !== undefined && (lineEnd >= text.length || text[lineEnd] === '\n')
      ? [lineEnd]
      : [];
  });
  const [last] = ends;
  return last === undefined ? undefined : { label: labelKey(label), address, end: last };
}

const definitionStart = /\[(?!\^)((?:[^\][\\]|\\[^]){1,999})\]:[ \t]*(?:\n[ \t]*)?/y;

/** The form in which labels are equal. */
export const labelKey = (label: string): string =>
  label.trim().replaceAll(/\s+/g, ' ').toLowerCase();

/** Where the paragraph of this index ends: at the next blank line. */
export function paragraphEnd(text: string, at: number): number {
  blankLine.lastIndex = at;
  return blankLine.exec(text)?.index ?? text.length;
}

const blankLine = /\n(?=[ \t>]*(?:\n|$))/g;

function addressAt(text: string, at: number, isWhole = false): MarkdownTarget {
  if (text[at] === '<') {
    const end = skip(text, at + 1, /[^<>\n]*/y);
    if (text[end] === '>') return { address: text.slice(at + 1, end), end: end + 1 };
  }
  if (isWhole) {
    const end = skip(text, at, /\S*/y);
    return { address: text.slice(at, end), end };
  }
  return balancedAt(text, at);
}

/** Parentheses may be nested, at most this deep. */
const maxDepth = 32;

function balancedAt(text: string, at: number): MarkdownTarget {
  let depth = 0;
  let end = at;
  for (; end < text.length; end += 1) {
    const sign = text[end] ?? ' ';
    if (/\s/.test(sign)) break;
    if (sign === '\\') end += 1;
    else if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    if (depth < 0 || depth > maxDepth) break;
  }
  return { address: text.slice(at, end), end: Math.min(end, text.length) };
}

const titleMarks: Readonly<Record<string, string>> = { '"': '"', "'": "'", '(': ')' };
/** A longer title is none. */
const maxTitle = 4_096;

function titleEnd(text: string, at: number, limit: number): number | undefined {
  const close = titleMarks[text[at] ?? ''];
  if (close === undefined) return undefined;
  const last = Math.min(limit, at + maxTitle);
  for (let index = at + 1; index < last; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === close) return index + 1;
    else if (isBlankOrNested(text, index, close)) return undefined;
  }
  return undefined;
}

const isBlankOrNested = (text: string, index: number, close: string): boolean =>
  text.startsWith('\n\n', index) || (close === ')' && text[index] === '(');

function skip(text: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}
