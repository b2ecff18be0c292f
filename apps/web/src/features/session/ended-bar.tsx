import { isEnded, type SessionState, type SessionSummary } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { useSessionId } from '@/features/session-log/session-context';
import { useSummary } from '@/features/session-log/summaries';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { stripMarkdown } from '@/lib/strip-markdown';
import { attempt } from '@/lib/toasts';

const words: Partial<Record<SessionState, string>> = {
  failed: 'This session failed.',
  limited: 'This session reached a limit.',
  stopped: 'This session was stopped.',
};

/** Why a session ended before its task was done, and how to continue. */
export function EndedBar() {
  const readOnly = useReadOnly();
  const id = useSessionId();
  const summary = useSummary(id);
  if (readOnly || !summary || !isEnded(summary.state) || summary.state === 'finished') return null;
  const reason = stripMarkdown(summary.reason ?? '');
  return (
    <div className="flex shrink-0 items-center gap-3 border-t bg-sunken px-4 py-1.5 text-sm">
      <p className="line-clamp-2 min-w-0 flex-1 break-words" title={reason}>
        <span className="font-medium">{words[summary.state]}</span>{' '}
        <span className="text-muted">
          {reason} Its log and files are kept; send a message or restart it to continue.
        </span>
      </p>
      {summary.state === 'limited' && (
        <Button small onClick={() => attempt(() => raiseLimits(summary))}>
          Double the limits and continue
        </Button>
      )}
      <Button small onClick={() => attempt(() => client.sessions.restart(id))}>
        Restart
      </Button>
    </div>
  );
}

/** Gives the session as much again of everything that is limited. */
async function raiseLimits({ id, budgets }: SessionSummary): Promise<void> {
  const doubled = Object.fromEntries(
    Object.entries(budgets).map(([name, limit]) => [name, limit === null ? null : limit * 2]),
  );
  await client.sessions.change(id, { budgets: doubled });
  await client.sessions.restart(id);
}
