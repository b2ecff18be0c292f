import {
  useCallback,
  useDeferredValue,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { pluralText } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { FoldButton } from '@/components/ui/fold';
import { OpenFile } from '@/components/ui/markdown';
import { useReadOnly } from '@/lib/role';
import { showFile } from '@/lib/panel-links';
import { toggled } from '@/lib/toggled';
import { useIsPast, useLog, useMoment, useView } from '@/features/session-log/session-context';
import { ChatFindBar } from './find/chat-find-bar';
import { useChatSearch } from './find/use-chat-search';
import { useShowFound } from './find/use-show-found';
import { AttentionBar } from './attention-bar';
import { ChatEntry } from './cards/chat-entry';
import { chatRows, rowKey, type ChatRow } from './chat-rows';
import { PartialReply } from './partial-reply';
import { PendingQuestions, usePending } from './pending-questions';
import { MessageBox } from './composer/message-box';
import { Thinking } from './thinking';
import { useStickToEnd } from './use-stick-to-end';

export function ChatPanel() {
  const readOnly = useReadOnly();
  return (
    <div className="flex h-full flex-col" data-find="chat">
      <OpenFile value={showFile}>
        <ChatList />
      </OpenFile>
      <Thinking />
      <PendingQuestions />
      <AttentionBar />
      {!readOnly && <MessageBox />}
    </div>
  );
}

function ChatList() {
  const entries = useView((view) => view.entries);
  const replying = useLog((log) => log.partialReply !== null);
  const past = useIsPast();
  const rewinds = useView((view) => view.rewinds);
  const asked = useView((view) => view.asked);
  const delivered = useView((view) => view.delivered);
  const withdrawn = useView((view) => view.withdrawn);
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  const rows = useMemo(
    () =>
      chatRows(entries, {
        rewinds,
        asked,
        delivered,
        withdrawn,
        unfolded,
        replying: replying && !past,
      }),
    [entries, rewinds, asked, delivered, withdrawn, unfolded, replying, past],
  );
  const toggle = useCallback((seq: number) => setUnfolded((now) => toggled(now, seq)), []);
  if (rows.length === 0)
    return <Empty title="Starting">The sandbox is starting. The conversation appears here.</Empty>;
  return <ChatRows rows={rows} past={past} onToggle={toggle} />;
}

interface ChatRowsProps {
  rows: readonly ChatRow[];
  past: boolean;
  /** Unfolds or folds the undone entries from this number on. */
  onToggle(seq: number): void;
}

function ChatRows({ rows, past, onToggle }: ChatRowsProps) {
  const older = useLog((log) => log.first > 1);
  // Pending questions are shown below the list instead.
  const questions = usePending();
  const pending = useMemo(() => new Set(questions.map(({ event }) => event.seq)), [questions]);
  const search = useChatSearch(rows, pending);
  const content = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  // A new function would make the list measure every row again.
  const getItemKey = useCallback((index: number) => rowKey(rows[index]), [rows]);
  // oxlint-disable-next-line react/incompatible-library -- nothing here is memoized by a compiler
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 56,
    getItemKey,
    overscan: 3,
    // Anchoring to the end visits every row, so it is only used while earlier rows load; the value
    // is deferred to include the last of them.
    anchorTo: useDeferredValue(older) ? 'end' : 'start',
    paddingStart: 12,
    paddingEnd: 12,
    // Row positions are written to the DOM directly; React only renders changes of visible rows.
    directDomUpdates: true,
    directDomUpdatesMode: 'position',
  });
  // Computed from the list’s measurements: reading them from the element would force a layout.
  const below = list.getTotalSize() - (list.scrollOffset ?? 0) - (list.scrollRect?.height ?? 0);
  const toEnd = () => list.scrollToIndex(rows.length - 1, { align: 'end' });
  const { containerRef } = list;
  const holdContent = useCallback(
    (element: HTMLDivElement | null) => {
      content.current = element;
      containerRef(element);
    },
    [containerRef],
  );
  useOpenAtEnd(toEnd);
  useStickToEnd({ scroller, content, obeys: search.open });
  useShowFound(search, content, (index) => list.scrollToIndex(index, { align: 'center' }));
  return (
    <div className="relative min-h-0 flex-1">
      <ChatFindBar search={search} onClose={() => scroller.current?.focus()} />
      <div
        ref={scroller}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Conversation"
        className="h-full overflow-y-auto overscroll-contain contain-strict"
      >
        {older && !past && (
          <p className="pt-2 text-center text-xs text-faint">Loading earlier events…</p>
        )}
        <div ref={holdContent} className="relative">
          {list.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return row === undefined ? null : (
              <div
                key={item.key}
                ref={list.measureElement}
                data-index={item.index}
                aria-current={item.index === search.current || undefined}
                className="absolute left-0 w-full px-4 aria-[current=true]:bg-amber-soft/60"
              >
                <Row row={row} pending={pending} onToggle={onToggle} />
              </div>
            );
          })}
        </div>
      </div>
      <JumpToEnd distance={below} onJump={toEnd} />
    </div>
  );
}

interface RowProps extends Pick<ChatRowsProps, 'onToggle'> {
  row: ChatRow;
  pending: ReadonlySet<number>;
}

function Row({ row, pending, onToggle }: RowProps) {
  if (row.kind === 'partial') return <PartialReply />;
  if (row.kind === 'undone')
    return (
      <FoldButton
        open={row.open}
        onToggle={() => onToggle(row.seq)}
        className="w-full py-1 text-sm text-faint"
      >
        {pluralText(row.count, 'entry', 'entries')} undone by a rewind
      </FoldButton>
    );
  if (pending.has(row.entry.event.seq)) return null;
  if (!row.undone) return <ChatEntry entry={row.entry} />;
  return (
    <div className="border-l-2 pl-3 line-through opacity-75">
      <ChatEntry entry={row.entry} />
    </div>
  );
}

/** Scrolls to the newest entry on opening, and when another moment is chosen. */
function useOpenAtEnd(toEnd: () => void): void {
  const at = useMoment((moment) => moment.at);
  const open = useEffectEvent(toEnd);
  useEffect(() => {
    open();
  }, [at]);
}

function JumpToEnd({ distance, onJump }: { distance: number; onJump(): void }) {
  if (distance < 200) return null;
  return (
    <Button small onClick={onJump} className="absolute bottom-2 left-1/2 -translate-x-1/2">
      <ArrowDown size={13} aria-hidden /> Newest
    </Button>
  );
}
