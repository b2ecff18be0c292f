import type { TranscriptItem } from './agent-transcript.js';

/** The result of a call that has none. */
const interrupted = 'interrupted';
const leftOut = '[The beginning of the conversation is left out.]';

/**
 * The items in an order that all providers accept: each call once, with its result right after it. Calls without a
 * result were interrupted; results without a call are dropped.
 */
export function pairedItems(items: readonly TranscriptItem[]): TranscriptItem[] {
  const results = new Map<string, TranscriptItem>();
  for (const item of items)
    if (item.kind === 'result' && !results.has(item.id)) results.set(item.id, item);
  const called = new Set<string>();
  return items.flatMap((item): TranscriptItem[] => {
    if (item.kind === 'result') return [];
    if (item.kind !== 'call') return item.text.trim() ? [item] : [];
    const { id, time } = item;
    if (called.has(id)) return [];
    called.add(id);
    return [item, results.get(id) ?? { kind: 'result', id, time, text: interrupted, ok: false }];
  });
}

/**
 * The newest paired items with at most this many characters, from a message of the user on, because a conversation
 * begins with one.
 */
export function newestItems(
  items: readonly TranscriptItem[],
  mostCharacters: number,
): TranscriptItem[] {
  let left = mostCharacters;
  let first = items.length;
  while (first > 0) {
    left -= sizeOf(items[first - 1]);
    if (left < 0) break;
    first -= 1;
  }
  const kept = items.slice(first);
  const begin = kept.findIndex(({ kind }) => kind === 'user');
  if (begin >= 0 && (first > 0 || begin === 0)) return kept.slice(begin);
  const rest = kept[0]?.kind === 'result' ? kept.slice(1) : kept;
  if (rest.length === 0) return [];
  return [{ kind: 'user', text: leftOut, time: rest[0]?.time ?? null }, ...rest];
}

function sizeOf(item: TranscriptItem | undefined): number {
  if (item === undefined) return 0;
  return item.kind === 'call' ? JSON.stringify(item.input).length : item.text.length;
}
