import { isEvent } from '@belay/protocol';
import type { LogEntry } from '@/features/session-log/log-entries';
import type { LogView } from '@/features/session-log/log-view';
import { undoneEntries } from '@/features/session-log/undone';

export type ChatRow =
  | { kind: 'entry'; entry: LogEntry; undone: boolean }
  /** The heading of consecutive entries that were undone, which it unfolds. */
  | { kind: 'undone'; seq: number; count: number; open: boolean }
  | { kind: 'partial' };

interface ChatRowsOptions extends Pick<LogView, 'rewinds' | 'asked' | 'delivered' | 'withdrawn'> {
  /** The first entries of the groups that the user unfolded, by number. */
  unfolded: ReadonlySet<number>;
  /** Whether a reply is streaming. */
  replying: boolean;
}

/**
 * The rows of the conversation, in the order in which the agent reads it: a queued message is shown where it was
 * delivered, and at the end until then. Entries that a rewind has undone are folded.
 */
export function chatRows(entries: readonly LogEntry[], options: ChatRowsOptions): ChatRow[] {
  const { rewinds, unfolded, replying } = options;
  const isUndone = undoneEntries(entries, rewinds);
  const shown = withoutResultsOfCards(entries, options);
  const rows: ChatRow[] = [];
  let group: Extract<ChatRow, { kind: 'undone' }> | undefined;
  for (const entry of inReadingOrder(shown, isUndone, options)) {
    const undone = isUndone(entry);
    if (!undone) group = undefined;
    else if (group) group.count += 1;
    else {
      const { seq } = entry.event;
      group = { kind: 'undone', seq, count: 1, open: unfolded.has(seq) };
      rows.push(group);
    }
    if (!undone || group?.open) rows.push({ kind: 'entry', entry, undone });
  }
  if (replying) rows.push({ kind: 'partial' });
  return rows;
}

/** A refused call has no card unless it began after all; then its card shows the result. */
function withoutResultsOfCards(
  entries: readonly LogEntry[],
  { asked }: ChatRowsOptions,
): readonly LogEntry[] {
  if (!entries.some(({ kind }) => kind === 'refused')) return entries;
  const cards = new Set(
    entries.flatMap(({ kind, event, reads = [event] }) =>
      kind === 'call' ? reads.map(({ id }) => id) : [],
    ),
  );
  return entries.filter(
    ({ kind, event: { id = '' } }) =>
      kind !== 'refused' || (!cards.has(id) && asked.get(id) !== undefined),
  );
}

function inReadingOrder(
  entries: readonly LogEntry[],
  isUndone: (entry: LogEntry) => boolean,
  { delivered, withdrawn }: ChatRowsOptions,
): readonly LogEntry[] {
  const positionOf = (entry: LogEntry): number => {
    const { event } = entry;
    const waits = isEvent(event, 'message') && event.args.delivery === 'queue';
    if (!waits || withdrawn.has(event.seq) || isUndone(entry)) return event.seq;
    return delivered.get(event.seq) ?? Infinity;
  };
  const isMoved = entries.some((entry) => positionOf(entry) !== entry.event.seq);
  return isMoved ? entries.toSorted((a, b) => comparable(positionOf(a), positionOf(b))) : entries;
}

/** Infinite positions are equal, so that queued messages keep their order. */
const comparable = (a: number, b: number): number => (a === b ? 0 : a - b);

/** Stays the same for a row while others are added. */
export function rowKey(row: ChatRow | undefined): string | number {
  if (row?.kind === 'entry') return row.entry.event.seq;
  return row?.kind === 'undone' ? `undone-${row.seq}` : 'partial';
}
