import { clockText, pluralText, readableOutput, type Event } from '@belay/protocol';
import { MousePointerClick } from 'lucide-react';
import { VisibleText } from '@/components/ui/visible-text';
import type { Gestures } from '@/features/session-log/gestures';
import { useView } from '@/features/session-log/session-context';

/** The user’s input to the agent’s browser, summarized in one line with the last error. */
export function GesturesEntry({ event, gestures }: { event: Event; gestures: Gestures }) {
  const results = useView((view) => view.results);
  const failed = gestures.calls.flatMap((id) => {
    const result = results.get(id);
    return result && !result.args.ok ? [readableOutput(result.args)] : [];
  });
  return (
    <p className="flex gap-2 py-1 text-sm text-muted">
      <MousePointerClick size={14} aria-hidden className="mt-0.5 shrink-0 text-faint" />
      <span className="min-w-0 flex-1 break-words">
        You, in the browser: {wordsOf(gestures)}
        {failed.length > 0 && (
          <span className="text-fail">
            {' '}
            <VisibleText text={failed.at(-1) ?? ''} />
          </span>
        )}
      </span>
      <time dateTime={event.time} className="shrink-0 text-xs leading-5 text-faint tabular-nums">
        {clockText(event.time)}
      </time>
    </p>
  );
}

const wordsOf = ({ clicks, scrolls, typed }: Gestures): string =>
  [
    clicks > 0 && pluralText(clicks, 'click'),
    typed && `typed “${typed}”`,
    scrolls > 0 && 'scrolled',
  ]
    .filter(Boolean)
    .join(', ');
