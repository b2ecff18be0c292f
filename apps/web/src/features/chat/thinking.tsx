import type { SessionSummary } from '@belay/protocol';
import { needsPerson } from '../sessions/fleet-order';
import { useSummary } from '../sessions/queries';
import { useIsPast, useLog, useMoment, useSessionId } from '../sessions/session-context';

/** What the agent does this second, or which moment of the past is shown. */
export function Thinking() {
  const summary = useSummary(useSessionId());
  const past = useIsPast();
  const at = useMoment((moment) => moment.at);
  const last = useLog((log) => log.view.lastSeq);
  const drafting = useLog((log) => log.draft !== null);
  if (past)
    return (
      <p role="status" className="border-t bg-sunken px-4 py-1 text-xs text-muted tabular-nums">
        Showing event {at} of {last}
      </p>
    );
  const text = summary && words(summary, drafting);
  if (!text) return null;
  return (
    <p role="status" className="flex items-center gap-2 border-t px-4 py-1 text-xs text-muted">
      <span aria-hidden className="size-1.5 shrink-0 animate-breathe rounded-full bg-run" />
      <span className="truncate font-mono">{text}</span>
    </p>
  );
}

function words(summary: SessionSummary, drafting: boolean): string | null {
  const { state, reason, current } = summary;
  if (state === 'starting') return reason ?? 'The sandbox starts…';
  if (state === 'running') return current ?? (drafting ? null : 'The model thinks…');
  // What waits for a person has a card of its own; the disk has not.
  return state === 'waiting' && !needsPerson(summary) ? reason : null;
}
