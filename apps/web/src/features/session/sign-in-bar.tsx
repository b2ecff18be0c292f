import { agentTerminal, isEnded } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { useIsPast, useSessionId } from '@/features/session-log/session-context';
import { showTerminal } from '@/lib/panel-links';
import { useSummary } from '@/lib/summaries';

/** Says what does not hold in a session whose user signs in to its agent. */
export function SignInBar() {
  const summary = useSummary(useSessionId());
  const past = useIsPast();
  if (past || !summary || isEnded(summary.state) || summary.agent?.login === undefined) return null;
  return (
    <section
      aria-label="Your own sign-in"
      className="flex shrink-0 items-center gap-3 border-t bg-amber-soft px-4 py-1.5 text-sm"
    >
      <p className="min-w-0 flex-1">
        You sign in to {summary.agent.name} in its terminal: this sandbox then holds your
        credential. Belay does not see, count or hold what the agent sends, and records no terminal.
      </p>
      {/* The bar of an agent that waits has the same button. */}
      {summary.attention === null && (
        <Button small onClick={() => showTerminal(agentTerminal)}>
          Open terminal
        </Button>
      )}
    </section>
  );
}
