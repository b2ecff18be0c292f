import { useDeferredValue, useMemo, useState } from 'react';
import { clockText, type Event } from '@belay/protocol';
import { Input } from '@/components/ui/field';
import { VirtualList } from '@/components/ui/virtual-list';
import { VisibleText } from '@/components/ui/visible-text';
import {
  lookAt,
  useLog,
  useMoment,
  useSessionContext,
} from '@/features/session-log/session-context';

const seqOf = (event: Event): number => event.seq;

/** All events of the log, newest first. */
export function LogPanel() {
  const context = useSessionContext();
  // Deferred, since filtering a long log would delay rendering.
  const events = useDeferredValue(useLog((log) => log.events));
  const at = useMoment((moment) => moment.at);
  const [text, setText] = useState('');
  const shown = useMemo(() => narrow(events, text, at), [events, text, at]);
  return (
    <div className="flex h-full flex-col">
      <div className="border-b p-1">
        <Input
          type="search"
          aria-label="Filter the log"
          placeholder="Filter by action or text"
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="h-6 border-transparent bg-sunken"
        />
      </div>
      <VirtualList
        items={shown}
        keyOf={seqOf}
        estimate={24}
        label="Events"
        className="min-h-0 flex-1 overflow-auto"
        render={(event) => (
          <button
            type="button"
            onClick={() => lookAt(context, event.seq)}
            title="Show this moment"
            className="flex w-full gap-2 border-b px-2 py-0.5 text-left font-mono text-xs leading-5 hover:bg-hover"
          >
            <span className="w-10 shrink-0 text-right text-faint">{event.seq}</span>
            <span className="shrink-0 text-faint max-sm:hidden">{clockText(event.time)}</span>
            <span className="w-28 shrink-0 truncate">
              <VisibleText text={event.action} />
            </span>
            <span className="truncate text-muted">
              <VisibleText text={event.message} />
            </span>
          </button>
        )}
      />
    </div>
  );
}

function narrow(events: readonly Event[], text: string, at: number | null): readonly Event[] {
  const words = text.toLowerCase();
  return events
    .filter(
      (event) =>
        (at === null || event.seq <= at) &&
        (!words || event.action.includes(words) || event.message.toLowerCase().includes(words)),
    )
    .toReversed();
}
