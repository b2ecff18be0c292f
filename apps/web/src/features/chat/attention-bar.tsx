import { agentTerminal, isEnded } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { VisibleText } from '@/components/ui/visible-text';
import { useIsPast, useSessionId } from '@/features/session-log/session-context';
import { showTerminal } from '@/lib/panel-links';
import { useSummary } from '@/lib/summaries';

/** Says why the program of another agent waits for its user, and leads to the terminal that it runs in. */
export function AttentionBar() {
  const summary = useSummary(useSessionId());
  const past = useIsPast();
  if (past || !summary || isEnded(summary.state) || summary.attention === null) return null;
  return (
    <section
      aria-label="The agent waits for you"
      className="flex shrink-0 items-center gap-3 border-t bg-amber-soft px-4 py-1.5 text-sm"
    >
      <p className="min-w-0 flex-1 break-words">
        <VisibleText text={summary.attention} />
      </p>
      {summary.agent?.protocol === 'terminal' && (
        <Button small onClick={() => showTerminal(agentTerminal)}>
          Open terminal
        </Button>
      )}
    </section>
  );
}
