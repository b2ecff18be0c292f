import { useMemo } from 'react';
import { callOf, isEnded, isEvent, undoneMessages } from '@belay/protocol';
import type { LogEntry } from '@/features/session-log/log-entries';
import { useIsPast, useSessionId, useView } from '@/features/session-log/session-context';
import { useSessionState } from '@/lib/summaries';
import { ChatEntry } from './cards/chat-entry';

/** How many of the newest entries are checked; older ones have been answered. */
const reach = 200;

/** Pending approvals and questions, oldest first; none at a past moment or in an ended session. */
export function usePending(): readonly LogEntry[] {
  const entries = useView((view) => view.entries);
  const verdicts = useView((view) => view.verdicts);
  const results = useView((view) => view.results);
  const rewinds = useView((view) => view.rewinds);
  const past = useIsPast();
  const state = useSessionState(useSessionId());
  const over = past || state === undefined || isEnded(state);
  return useMemo(() => {
    if (over) return [];
    const waits = ({ event }: LogEntry) =>
      isEvent(event, 'approval')
        ? !verdicts.has(event.args.id) && !results.get(event.args.id)
        : callOf(event, 'ask') !== undefined && !results.get(event.id ?? '');
    const isUndone = undoneMessages(rewinds);
    return entries.slice(-reach).filter((entry) => waits(entry) && !isUndone(entry.event));
  }, [over, entries, verdicts, results, rewinds]);
}

/** Keeps pending questions visible, regardless of the conversation’s scroll position. */
export function PendingQuestions() {
  const pending = usePending();
  if (pending.length === 0) return null;
  return (
    <section
      aria-label="Waiting for you"
      className="max-h-[70%] shrink-0 overflow-y-auto border-t px-3 py-1"
    >
      {pending.map((entry) => (
        <ChatEntry key={entry.event.seq} entry={entry} />
      ))}
    </section>
  );
}
