export interface Difference {
  path: string;
  recorded: string;
  now: string;
}

/** The first place, in the order of the recording, where two JSON values differ. */
export function firstDifference(recorded: unknown, now: unknown, path = 'the request'): Difference {
  if (isContainer(recorded) && isContainer(now) && Array.isArray(recorded) === Array.isArray(now)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      const [before, after] = [member(recorded, key), member(now, key)];
      if (JSON.stringify(before) !== JSON.stringify(after)) {
        return firstDifference(before, after, `${path === 'the request' ? '' : `${path}.`}${key}`);
      }
    }
  }
  return { path, ...shownFromDifference(text(recorded), text(now)) };
}

/** Long texts are shown from shortly before their first difference. */
function shownFromDifference(recorded: string, now: string): Pick<Difference, 'recorded' | 'now'> {
  let at = 0;
  while (at < recorded.length && recorded[at] === now[at]) at += 1;
  const from = at > 60 ? at - 40 : 0;
  const cut = (whole: string): string =>
    `${from > 0 ? '…' : ''}${whole.slice(from, from + 300)}${whole.length > from + 300 ? '…' : ''}`;
  return { recorded: cut(recorded), now: cut(now) };
}

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null;

const member = (value: object, key: string): unknown =>
  Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;

const text = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));
