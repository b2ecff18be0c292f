import { modelFields, resultText } from '@belay/protocol';
import type { CallResult } from './conversation.js';

/** Texts above this many characters are long, unless more space is left. */
export const usualLongText = 1_200;
/** The shares of a long text that stay, of its beginning and its end. */
const head = 1 / 3;
const tail = 1 / 4;
/** Lists are long from this multiple on. */
const listShare = 3;
const fewestRows = 5;

/**
 * A result’s output as the model gets it, with texts and lists above `longest` characters shortened. Outputs that would
 * not get smaller stay as they are.
 */
export function shownOutput(
  { operation, output }: Pick<CallResult, 'operation' | 'output'>,
  longest: number | null,
): unknown {
  if (longest === null) return output;
  const short = shortenedOutput(operation, output, longest);
  const sizes = [short, output].map((one) => resultText({ operation, output: one }).length);
  return (sizes[0] ?? 0) < (sizes[1] ?? 0) ? short : output;
}

/**
 * Shortens an operation’s output. Lines that are shown with numbers get them before the cut, in a field of another
 * name, so that the remaining lines are not numbered again. What was cut from a list is said beside it, so that it
 * stays a table.
 */
export function shortenedOutput(
  operation: string,
  output: unknown,
  longest = usualLongText,
): unknown {
  if (typeof output !== 'object' || output === null || Array.isArray(output))
    return shortenedValue(output, longest);
  const plain = Object.fromEntries(Object.entries(output));
  const { fields, numbered } = modelFields(operation, plain);
  const lines = numbered === null ? '' : String(fields[numbered]);
  const isCut = lines.length > longest;
  return Object.fromEntries(
    Object.entries(isCut ? fields : plain).flatMap(([name, value]) =>
      isCut && name === numbered
        ? [[`${name} (shortened)`, shortText(lines, longest)]]
        : shortenedField(name, value, longest),
    ),
  );
}

function shortenedField(name: string, value: unknown, longest: number): [string, unknown][] {
  const rows: unknown[] = Array.isArray(value) ? value : [];
  const kept = rowsWithin(rows, longest).map((row) => shortenedValue(row, longest));
  if (rows.length === 0) return [[name, shortenedValue(value, longest)]];
  if (kept.length === rows.length) return [[name, kept]];
  return [
    [name, kept],
    [`${name} (shortened)`, dropped(rows.length - kept.length)],
  ];
}

/** Shortens long texts and lists in a value in the middle, with a note. */
export function shortenedValue(value: unknown, longest: number): unknown {
  if (typeof value === 'string') return shortText(value, longest);
  if (Array.isArray(value)) return shortList(value, longest);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, shortenedValue(inner, longest)]),
  );
}

/** Cuts between lines where possible, because half a line would look like a whole one. */
function shortText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const [first, last] = [Math.floor(longest * head), Math.floor(longest * tail)];
  const firstEnd = text.lastIndexOf('\n', first);
  const lastStart = text.indexOf('\n', text.length - last - 1) + 1;
  const beginning = text.slice(0, firstEnd > 0 ? firstEnd : first);
  const end = text.slice(lastStart > 0 && lastStart < text.length ? lastStart : -last);
  const left = text.length - beginning.length - end.length;
  return `${beginning}\n[… ${left} characters were dropped to save space; ask again if you need them …]\n${end}`;
}

function shortList(list: readonly unknown[], longest: number): unknown[] {
  const kept = rowsWithin(list, longest).map((row) => shortenedValue(row, longest));
  return kept.length === list.length
    ? kept
    : [...kept, `[… ${dropped(list.length - kept.length)} …]`];
}

function rowsWithin(list: readonly unknown[], longest: number): readonly unknown[] {
  let left = longest * listShare;
  const end = list.findIndex((row, index) => {
    left -= JSON.stringify(row ?? null).length;
    return left < 0 && index >= fewestRows;
  });
  return end < 0 ? list : list.slice(0, end);
}

const dropped = (count: number): string => `${count} more were dropped to save space`;
