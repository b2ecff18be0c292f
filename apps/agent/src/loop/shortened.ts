const longText = 1_200;
const head = 400;
const tail = 300;
const longList = 40;

/** A value with its long texts and lists cut in the middle, saying so. */
export function shortened(value: unknown): unknown {
  if (typeof value === 'string') return shortText(value);
  if (Array.isArray(value)) return shortList(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]));
}

function shortText(text: string): string {
  if (text.length <= longText) return text;
  const left = text.length - head - tail;
  return `${text.slice(0, head)}\n[… ${left} characters were dropped to save room; ask again if you need them …]\n${text.slice(-tail)}`;
}

function shortList(list: unknown[]): unknown[] {
  const kept = list.slice(0, longList).map(shortened);
  return list.length <= longList
    ? kept
    : [...kept, `[… ${list.length - longList} more were dropped to save room …]`];
}
