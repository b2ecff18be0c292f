import { useMemo } from 'react';
import { callOf, isEnded, isEvent } from '@belay/protocol';
import type { LogEntry } from '@/features/session-log/log-entries';
import { useIsPast, useSessionId, useView } from '@/features/session-log/session-context';
import { useSessionState } from '@/lib/summaries';
import { ChatEntry } from './cards/chat-entry';

/** Only the newest entries can wait for an answer; older ones have been answered. */
const reach = 200;

/** The approvals and questions that wait for the user, the oldest first; none in the past, and none after the end. */
export function usePending(): readonly LogEntry[] {
  const entries = useView((view) => view.entries);
  const verdicts = useView((view) => view.verdicts);
  const results = useView((view) => view.results);
  const past = useIsPast();
  const state = useSessionState(useSessionId());
  const over = past || state === undefined || isEnded(state);
  return useMemo(() => {
    if (over) return [];
    const waits = ({ event }: LogEntry) =>
      isEvent(event, 'approval')
        ? !verdicts.has(event.args.id) && !results.get(event.args.id)
        : callOf(event, 'ask') !== undefined && !results.get(event.id ?? '');
    return entries.slice(-reach).filter(waits);
  }, [over, entries, verdicts, results]);
}

/** What waits for the user stays in sight, wherever the conversation is scrolled to. */
export function PendingQuestions() {
  const pending = usePending();
  if (pending.length === 0) return null;
  return (
    <section
      aria-label="Waiting for you"
      className="max-h-[50%] shrink-0 overflow-y-auto border-t px-3 py-1"
    >
      {pending.map((entry) => (
        <ChatEntry key={entry.event.seq} entry={entry} />
      ))}
    </section>
  );
}
