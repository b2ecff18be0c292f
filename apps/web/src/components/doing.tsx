import { isEnded, type SessionSummary } from '@belay/protocol';
import { clsx } from 'clsx';
import { stripMarkdown } from '@/lib/strip-markdown';
import { VisibleText } from '@/components/ui/visible-text';

interface DoingProps {
  session: SessionSummary;
  className: string;
}

/** The session’s current call in monospace, or the reason why there is none. */
export function Doing({ session: { state, current, reason }, className }: DoingProps) {
  const working = current !== null && !isEnded(state);
  const words = state === 'running' ? 'Waiting for the model’s reply' : stripMarkdown(reason ?? '');
  return (
    <p
      className={clsx(
        'break-words text-muted empty:hidden',
        working ? 'font-mono text-xs' : 'text-sm',
        className,
      )}
    >
      <VisibleText text={working ? current : words} />
    </p>
  );
}
