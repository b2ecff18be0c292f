import { withLineNumbers } from '@belay/protocol';

const longText = 1_200;
const head = 400;
const tail = 300;
const longList = 40;

/**
 * The output of an operation, cut like any value. Lines that a reader numbers are numbered before they are cut, and in
 * a field of another name: nothing then numbers what is left anew.
 */
export function shortenedOutput(operation: string, output: unknown): unknown {
  if (typeof output !== 'object' || output === null || Array.isArray(output))
    return shortenedValue(output);
  const plain = Object.entries(output);
  const numbered = withLineNumbers(operation, Object.fromEntries(plain));
  return Object.fromEntries(
    plain.map(([name, value]) => {
      const text = numbered[name];
      const isCut = typeof text === 'string' && text !== value && text.length > longText;
      return isCut ? [`${name} (shortened)`, shortText(text)] : [name, shortenedValue(value)];
    }),
  );
}

/** A value with its long texts and lists cut in the middle, saying so. */
export function shortenedValue(value: unknown): unknown {
  if (typeof value === 'string') return shortText(value);
  if (Array.isArray(value)) return shortList(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, shortenedValue(inner)]),
  );
}

/** Cut between two lines where there are any: half a line would look like a whole one. */
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
