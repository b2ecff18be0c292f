import type { ReactNode } from 'react';
import { clockText, type Event } from '@belay/protocol';
import { clsx } from 'clsx';
import { VisibleText } from '@/components/ui/visible-text';

const bad = new Set(['error', 'limit', 'retry', 'egress', 'mcp']);

/** Any other event of the session, in one line; `children` are its buttons. */
export function NoteEntry({ event, children }: { event: Event; children?: ReactNode }) {
  const failed = bad.has(event.action) || event.args['state'] === 'failed';
  return (
    <p className="flex gap-2 py-1 text-sm text-muted">
      <span
        aria-hidden
        className={clsx(
          'mt-2 size-1.5 shrink-0 rounded-full',
          failed ? 'bg-fail' : 'bg-line-strong',
        )}
      />
      <span className="min-w-0 flex-1 break-words">
        <VisibleText text={event.message} />
      </span>
      {children}
      <time dateTime={event.time} className="shrink-0 text-xs leading-5 text-faint tabular-nums">
        {clockText(event.time)}
      </time>
    </p>
  );
}
