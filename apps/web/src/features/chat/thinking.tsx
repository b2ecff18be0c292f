import { bytesText, needsUser, type SessionSummary } from '@belay/protocol';
import { Link } from '@tanstack/react-router';
import { Button } from '@/components/ui/button';
import { Meter } from '@/components/ui/meter';
import { VisibleText } from '@/components/ui/visible-text';
import { runControl, sessionControls } from '@/features/session-controls/session-controls';
import { useIsPast, useLog, useMoment, useSessionId } from '@/features/session-log/session-context';
import { useSummary } from '@/lib/summaries';

/** The agent’s current activity, or which past event is displayed. */
export function Thinking() {
  const summary = useSummary(useSessionId());
  const past = useIsPast();
  const at = useMoment((moment) => moment.at);
  const last = useLog((log) => log.view.lastSeq);
  const replying = useLog((log) => log.partialReply !== null);
  const copied = useLog((log) => log.copied);
  if (past)
    return (
      <p role="status" className="border-t bg-sunken px-4 py-1 text-xs text-muted tabular-nums">
        Showing event {at} of {last}
      </p>
    );
  const text = summary && words(summary, replying);
  if (!text) return null;
  if (copied && summary.state === 'starting') return <Copying {...copied} />;
  return (
    <p role="status" className="flex items-center gap-2 border-t px-4 py-1 text-xs text-muted">
      <span aria-hidden className="size-1.5 shrink-0 animate-breathe rounded-full bg-run" />
      <span className="truncate font-mono">
        <VisibleText text={text} />
      </span>
      {summary.modelError && summary.state === 'waiting' && (
        <span className="ml-auto flex shrink-0 items-center gap-2">
          {summary.modelError.retryAt === null && (
            <Link to="/settings" search={{ section: 'models' }} className="underline">
              Models and keys
            </Link>
          )}
          <Button small onClick={() => runControl(sessionControls.resume, summary)}>
            Try now
          </Button>
        </span>
      )}
    </p>
  );
}

/** The progress of copying the workspace to the sandbox. */
function Copying({ done, total }: { done: number; total: number | null }) {
  const size =
    total === null ? bytesText(done) : `${bytesText(Math.min(done, total))} of ${bytesText(total)}`;
  return (
    <div role="status" className="flex items-center gap-3 border-t px-4 py-1 text-xs text-muted">
      <span className="shrink-0 tabular-nums">Copying the workspace: {size}</span>
      {total !== null && <Meter plain label="Copied" value={done} max={total} />}
    </div>
  );
}

function words(summary: SessionSummary, replying: boolean): string | null {
  const { state, reason, current, modelError } = summary;
  if (state === 'starting') return reason ?? 'Starting the sandbox…';
  if (state === 'running') return current ?? (replying ? null : 'The model is thinking…');
  // Questions have their own cards; waiting for the model or for disk space does not.
  return state === 'waiting' && (modelError || !needsUser(summary)) ? reason : null;
}
