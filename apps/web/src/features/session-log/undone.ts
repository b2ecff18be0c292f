import { isUndoneCommit, undoneMessages, type ChangeRecords, type Event } from '@belay/protocol';
import type { LogEntry } from './log-entries';

/** Decides which entries of the conversation a rewind has undone. */
export function undoneEntries(
  entries: readonly LogEntry[],
  rewinds: readonly Event[],
): (entry: LogEntry) => boolean {
  if (rewinds.length === 0) return () => false;
  const calls = new Map(
    entries.flatMap(({ kind, event, reads = [event] }) =>
      kind === 'call' ? reads.map(({ id, seq }) => [id, seq] as const) : [],
    ),
  );
  const isUndone = undoneMessages(rewinds, (id) => calls.get(id));
  return ({ event }) => isUndone(event);
}

/** Whether the changes of a call were undone. */
export function changesAreUndone(records: ChangeRecords, call: string | undefined): boolean {
  const commit = records.commits.get(call ?? '');
  return commit !== undefined && isUndoneCommit(records, commit);
}
