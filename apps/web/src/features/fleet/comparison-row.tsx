import { Link } from '@tanstack/react-router';
import { dollarsText, pluralText, type SessionSummary } from '@belay/protocol';
import { FoldButton } from '@/components/ui/fold';
import type { FoldedComparison } from './fleet-lines';
import { needOf } from './fleet-order';

interface ComparisonRowProps {
  row: FoldedComparison;
  onToggle(comparison: string): void;
}

/** The sessions of a comparison as one row that can be expanded. */
export function ComparisonRow({ row, onToggle }: ComparisonRowProps) {
  const { comparison, sessions, open } = row;
  const title = sessions[0]?.title ?? 'Comparison';
  return (
    <article
      aria-label={`Comparison: ${title}`}
      className="flex min-h-12 flex-wrap items-center gap-x-4 gap-y-1 border-b bg-sunken/50 px-4 py-1.5"
    >
      <FoldButton
        open={open}
        onToggle={() => onToggle(comparison)}
        className="h-8 text-sm text-muted"
      >
        {pluralText(sessions.length, 'session')}
      </FoldButton>
      <Link
        to="/compare/$id"
        params={{ id: comparison }}
        data-session={comparison}
        title={title}
        className="min-w-0 flex-1 basis-40 truncate font-medium hover:underline max-sm:order-first max-sm:basis-full"
      >
        {title}
      </Link>
      <span className="text-sm text-muted">{statesOf(sessions)}</span>
      <span className="text-sm text-muted tabular-nums">
        {dollarsText(sessions.reduce((sum, session) => sum + session.dollars, 0))}
      </span>
      <Link
        to="/compare/$id"
        params={{ id: comparison }}
        className="text-sm underline underline-offset-2"
      >
        Compare
      </Link>
    </article>
  );
}

/** Such as `1 running, 2 ended`. */
function statesOf(sessions: readonly SessionSummary[]): string {
  const counts = Map.groupBy(sessions, needOf);
  return [...counts].map(([need, { length }]) => `${length} ${need.toLowerCase()}`).join(', ');
}
