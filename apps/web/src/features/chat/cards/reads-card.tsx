import { useState } from 'react';
import { calledOperation, elapsedText, type Event } from '@belay/protocol';
import { FileText } from 'lucide-react';
import { FoldButton } from '@/components/ui/fold';
import { VisibleText } from '@/components/ui/visible-text';
import { useView } from '@/features/session-log/session-context';
import { CallCard } from './call-card';

/** Consecutive file reads in one line, which unfolds into a card for each. */
export function ReadsCard({ events }: { events: readonly Event[] }) {
  const [open, setOpen] = useState(false);
  const results = useView((view) => view.results);
  const found = events.map(({ id }) => results.get(id ?? ''));
  const failed = found.filter((result) => result && !result.args.ok).length;
  const seconds = found.reduce((sum, result) => sum + (result?.args.seconds ?? 0), 0);
  return (
    <div className="py-1">
      <div className="overflow-hidden rounded-md border">
        <FoldButton
          open={open}
          onToggle={() => setOpen(!open)}
          className="w-full px-2 py-1 hover:bg-hover/60"
        >
          <FileText size={14} aria-hidden className="shrink-0 text-faint" />
          <span className="min-w-0 flex-1 truncate text-sm leading-5">
            {readsText(events)}{' '}
            <span className="font-mono text-xs text-muted">
              <VisibleText text={namesOf(events)} />
            </span>
          </span>
          {failed > 0 && <span className="shrink-0 text-xs text-fail">{failed} failed</span>}
          <span className="shrink-0 text-xs text-faint tabular-nums">{elapsedText(seconds)}</span>
        </FoldButton>
        {open && (
          <div className="border-t bg-sunken px-2 py-1">
            {events.map((event) => (
              <CallCard key={event.seq} event={event} />
            ))}
          </div>
        )}
      </div>
    </div>
  );
}

/** For example “Read 5 files, search files (2)”, based on the titles of the operations. */
function readsText(events: readonly Event[]): string {
  const counts = Map.groupBy(events, ({ action }) => calledOperation(action)?.title ?? action);
  const parts = [...counts].map(([title, calls]) => {
    if (title.endsWith(' a file')) return title.replace('a file', `${calls.length} files`);
    return calls.length === 1 ? title : `${title} (${calls.length})`;
  });
  const [first = '', ...rest] = parts.map((part) => part.replace(' 1 files', ' 1 file'));
  return [first, ...rest.map((part) => part.charAt(0).toLowerCase() + part.slice(1))].join(', ');
}

const namesOf = (events: readonly Event[]): string =>
  [...new Set(events.map(({ args: { path } }) => (typeof path === 'string' ? path : '')))]
    .map((path) => path.slice(path.lastIndexOf('/') + 1))
    .filter((name) => name !== '' && name !== '.')
    .join(', ');
