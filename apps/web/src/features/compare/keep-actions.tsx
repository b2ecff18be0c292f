import { Link } from '@tanstack/react-router';
import { isEnded, pluralText, type Comparison, type SessionSummary } from '@belay/protocol';
import { Check, GitPullRequestArrow, MessageSquare, Undo2 } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { askPublish } from '@/features/session-controls/publish-request';
import { askConfirm } from '@/lib/ask';
import { queryClient } from '@/lib/query-client';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { comparisonQuery } from './queries';
import { hasChanges } from './use-patch';

interface KeepActionsProps {
  comparison: Comparison;
  session: SessionSummary;
  labelOf(id: string): string;
}

/** The button that keeps a session; once it is kept, the next steps with it. */
export function KeepActions({ comparison, session, labelOf }: KeepActionsProps) {
  const { kept } = comparison;
  if (kept && kept.session !== session.id) return null;
  if (kept)
    return (
      <>
        <Button small look="solid" onClick={() => askPublish(session)}>
          <GitPullRequestArrow size={13} aria-hidden /> Publish changes
        </Button>
        <Link to="/sessions/$id" params={{ id: session.id }} className={linkLook}>
          <MessageSquare size={13} aria-hidden /> Continue this session
        </Link>
      </>
    );
  return (
    <Button
      small
      aria-label={`Keep ${labelOf(session.id)}`}
      onClick={() => attempt(() => keep(comparison, session, labelOf))}
    >
      <Check size={13} aria-hidden /> Keep
    </Button>
  );
}

const linkLook =
  'inline-flex h-6 items-center gap-1.5 rounded-md border border-line-strong bg-panel px-2 text-xs font-medium hover:bg-hover max-md:h-8 max-md:text-sm';

/** Shows which session is kept, with an undo button. */
export function KeptBar({ comparison, label }: { comparison: Comparison; label: string }) {
  const readOnly = useReadOnly();
  const others = comparison.kept?.others ?? [];
  const stopped = others.filter((other) => other.stopped).length;
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-3 rounded-md border border-pass bg-pass-soft px-3 py-2 text-sm"
    >
      <p className="min-w-0 flex-1 basis-60">
        <strong className="font-medium">{label} is kept.</strong>{' '}
        {pluralText(others.length, 'other')} archived
        {stopped > 0 && `, ${stopped} of them stopped`}.
      </p>
      {!readOnly && (
        <Button small onClick={() => attempt(() => undo(comparison.id), 'Undone.')}>
          <Undo2 size={13} aria-hidden /> Undo
        </Button>
      )}
    </div>
  );
}

/** Archives the other sessions, then asks where to publish, unless the session may change more. */
async function keep(
  { id, sessions }: Comparison,
  session: SessionSummary,
  labelOf: (id: string) => string,
): Promise<void> {
  const hasEnded = isEnded(session.state);
  const others = sessions.filter((each) => each.id !== session.id);
  const sure = await askConfirm({
    title: `Keep ${labelOf(session.id)}?`,
    text: `The other sessions are archived. Their logs and files are kept, and you can undo this.${hasEnded ? ' You then choose where to publish the changes.' : ''}`,
    lines: others.map(
      (other) =>
        `${labelOf(other.id)}: ${isEnded(other.state) ? 'archived' : 'stopped and archived'}`,
    ),
    verb: 'Keep this one',
  });
  if (!sure) return;
  show(await client.comparisons.keep(id, { session: session.id }));
  if (hasEnded && (await hasChanges(session))) askPublish(session);
}

async function undo(id: string): Promise<void> {
  show(await client.comparisons.undo(id));
}

const show = (comparison: Comparison): void => {
  queryClient.setQueryData(comparisonQuery(comparison.id).queryKey, comparison);
};
