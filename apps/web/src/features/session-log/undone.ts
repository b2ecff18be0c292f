import { undoneCommits, undoneMessages, type Event } from '@belay/protocol';
import type { LogEntry } from './log-entries';
import type { Commit, LogView } from './log-view';

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

type Undoing = Pick<LogView, 'commits' | 'results' | 'rewinds' | 'undos'>;

/** Whether the changes of a call were undone: by a rewind of the files, or by undoing its step. */
export function changesAreUndone(view: Undoing, call: string | undefined): boolean {
  const commit = view.commits.get(call ?? '');
  return commit !== undefined && isUndone(view, commit);
}

function isUndone(view: Undoing, commit: Commit): boolean {
  const { rewinds, undos, results, commits } = view;
  if (rewinds.length > 0) {
    const isRewound = undoneCommits(rewinds, (id) => results.get(id ?? '')?.seq);
    if (isRewound(commit)) return true;
  }
  const undo = commits.get(undos.get(commit.args.commit) ?? '');
  // An undo that was itself undone no longer counts. A log that an agent made up could refer in circles.
  return undo !== undefined && undo.seq > commit.seq && !isUndone(view, undo);
}
