import { modelFields } from '@belay/protocol';

const longText = 1_200;
const head = 400;
const tail = 300;
const longList = 40;

/**
 * Shortens an operation’s output. Lines that are shown with numbers get them before the cut, in a field of another
 * name, so that the remaining lines are not numbered again.
 */
export function shortenedOutput(operation: string, output: unknown): unknown {
  if (typeof output !== 'object' || output === null || Array.isArray(output))
    return shortenedValue(output);
  const plain = Object.fromEntries(Object.entries(output));
  const { fields, numbered } = modelFields(operation, plain);
  const text = numbered === null ? '' : String(fields[numbered]);
  if (numbered === null || text.length <= longText) return shortenedValue(output);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) =>
      name === numbered ? [`${name} (shortened)`, shortText(text)] : [name, shortenedValue(value)],
    ),
  );
}

/** Shortens long texts and lists in a value in the middle, with a note. */
export function shortenedValue(value: unknown): unknown {
  if (typeof value === 'string') return shortText(value);
  if (Array.isArray(value)) return shortList(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, shortenedValue(inner)]),
  );
}

/** Cuts between lines where possible, because half a line would look like a whole one. */
function shortText(text: string): string {
  if (text.length <= longText) return text;
  const firstEnd = text.lastIndexOf('\n', head);
  const lastStart = text.indexOf('\n', text.length - tail - 1) + 1;
  const first = text.slice(0, firstEnd > 0 ? firstEnd : head);
  const last = text.slice(lastStart > 0 && lastStart < text.length ? lastStart : -tail);
  const left = text.length - first.length - last.length;
  return `${first}\n[… ${left} characters were dropped to save space; ask again if you need them …]\n${last}`;
}

function shortList(list: unknown[]): unknown[] {
  const kept = list.slice(0, longList).map(shortenedValue);
  return list.length <= longList
    ? kept
    : [...kept, `[… ${list.length - longList} more were dropped to save space …]`];
}
