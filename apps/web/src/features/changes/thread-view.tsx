import { useState } from 'react';
import { Check, RotateCcw } from 'lucide-react';
import { clockText } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { FoldButton } from '@/components/ui/fold';
import { Markdown } from '@/components/ui/markdown';
import { VisibleText } from '@/components/ui/visible-text';
import { useSessionId } from '@/features/session-log/session-context';
import { linesText } from './line-comments';
import { useIsResolved, useResolved, type ReviewThread } from './review-threads';

interface ThreadViewProps {
  thread: ReviewThread;
  /** Whether its lines have changed since. */
  outdated?: boolean;
  /** Whether the user can resolve it. */
  decides: boolean;
}

/** A comment of a review that was sent, on its lines; folded once it is resolved or outdated. */
export function ThreadView({ thread, outdated = false, decides }: ThreadViewProps) {
  const session = useSessionId();
  const resolved = useIsResolved(thread);
  const [open, setOpen] = useState<boolean | null>(null);
  const { text, from, to, rejected, quote } = thread.comment;
  const isOpen = open ?? !(resolved || outdated);
  const state = resolved ? 'resolved' : outdated ? 'outdated' : rejected ? 'rejected' : '';
  return (
    <section
      aria-label={`Comment on ${linesText(from, to)}`}
      className="border-y bg-sunken px-3 py-1 font-sans text-sm whitespace-normal"
    >
      <div className="flex items-center gap-2">
        <FoldButton
          open={isOpen}
          onToggle={() => setOpen(!isOpen)}
          className="flex-1 text-xs text-muted"
        >
          <span className="shrink-0">
            You · {linesText(from, to)}
            {state && ` · ${state}`}
          </span>
          {!isOpen && <span className="truncate">{text}</span>}
          <time dateTime={thread.time} className="ml-auto shrink-0 text-faint tabular-nums">
            {clockText(thread.time)}
          </time>
        </FoldButton>
        {decides && (
          <Button
            small
            look="ghost"
            onClick={() => {
              useResolved.getState().toggle(session, thread.id);
              setOpen(null);
            }}
          >
            {resolved ? <RotateCcw size={12} aria-hidden /> : <Check size={12} aria-hidden />}
            {resolved ? 'Reopen' : 'Resolve'}
          </Button>
        )}
      </div>
      {isOpen && (
        <div className="pb-1">
          {outdated && (
            <pre className="my-1 overflow-x-auto font-mono text-xs text-muted">
              <VisibleText text={quote.join('\n')} />
            </pre>
          )}
          <Markdown text={text} />
        </div>
      )}
    </section>
  );
}
