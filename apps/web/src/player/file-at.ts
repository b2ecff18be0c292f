import { isEvent, type Event } from '@belay/protocol';

/** A file as of a commit, or the latest for null: applies the edits of the log to its base text. */
export function fileAt(
  { path, base, commit }: { path: string; base: string; commit: string | null },
  events: readonly Event[],
): string {
  const last = commit === null ? null : events.find((event) => isCommit(event, commit));
  // A commit that is not in the log is the one the session started from.
  if (last === undefined) return base;
  const lines = base === '' ? [] : base.split('\n');
  for (const event of events) {
    const counts = last === null || event.seq <= last.seq || event.id === last.id;
    if (!counts || !isEvent(event, 'code') || event.args.path !== path) continue;
    const { line, removed, content } = event.args;
    if (line > 0) lines.splice(line - 1, removed, ...content);
  }
  return lines.join('\n');
}

const isCommit = (event: Event, commit: string): boolean =>
  isEvent(event, 'commit') && event.args.commit === commit;
