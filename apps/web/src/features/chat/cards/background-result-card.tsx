import { clockText, readableOutput, visibleText, type Event, type EventOf } from '@belay/protocol';
import { clsx } from 'clsx';
import { Blocks } from 'lucide-react';
import { VisibleText } from '@/components/ui/visible-text';
import { ActionFiles } from './action-files';

/** The result of a background call, at the point where it arrived. */
export function BackgroundResultCard({ event }: { event: Event & EventOf<'background-result'> }) {
  const { ok, output } = event.args;
  const text = ok ? readableOutput(event.args) : '';
  return (
    <section className="py-1" aria-label={visibleText(event.message)}>
      <div className="overflow-hidden rounded-md border">
        <p className="flex items-center gap-2 px-2 py-1 text-sm leading-5">
          <Blocks size={14} aria-hidden className="shrink-0 text-faint" />
          <span className={clsx('min-w-0 flex-1 break-words', !ok && 'text-fail')}>
            <VisibleText text={event.message} />
          </span>
          <time dateTime={event.time} className="shrink-0 text-xs text-faint tabular-nums">
            {clockText(event.time)}
          </time>
        </p>
        {text && (
          <pre
            tabIndex={0}
            aria-label="Output"
            className="max-h-48 overflow-auto border-t bg-sunken px-3 py-1.5 text-xs leading-4.5 break-words whitespace-pre-wrap text-muted"
          >
            <VisibleText text={text} />
          </pre>
        )}
        <ActionFiles output={output} />
      </div>
    </section>
  );
}
