import { isEvent, type Event } from '@belay/protocol';

/** A file as it was at a commit: its text before the session with the edits of the log put on it, in order. */
export function fileAt(
  { path, base, commit }: { path: string; base: string; commit: string | null },
  events: readonly Event[],
): string {
  const last = commit === null ? null : events.find((event) => isCommit(event, commit));
  // A commit that the log does not have is the one that the session began from.
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
