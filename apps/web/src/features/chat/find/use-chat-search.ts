import { useDeferredValue, useMemo, useState } from 'react';
import type { FindDirection } from '@/components/ui/find-bar';
import { useView } from '@/features/session-log/session-context';
import { rowKey, type ChatRow } from '../chat-rows';
import { useChatFind } from './chat-find';
import { foldedCase, rowText } from './row-text';

export interface ChatSearch {
  open: boolean;
  text: string;
  setText(text: string): void;
  /** What is searched, as `foldedCase` has it; empty while the search is closed. */
  wanted: string;
  /** The index of the row that was stepped to; undefined without matches. */
  current: number | undefined;
  status: string;
  step(direction: FindDirection): void;
}

/** Finds the rows that show a text, from the newest to the oldest. */
export function useChatSearch(
  rows: readonly ChatRow[],
  /** The entries that the chat shows elsewhere, by number. */
  hidden: ReadonlySet<number>,
): ChatSearch {
  const open = useChatFind((find) => find.open);
  const [text, setText] = useState('');
  const wanted = useDeferredValue(open ? foldedCase(text.trim()) : '');
  const view = useView((all) => (wanted === '' ? null : all));
  const matches = useMemo(
    () =>
      view === null
        ? []
        : rows.flatMap((row, index) =>
            !isHidden(row, hidden) && rowText(row, view).includes(wanted) ? [index] : [],
          ),
    [rows, view, wanted, hidden],
  );
  // The key stays the same while rows are added, also before it.
  const [chosen, setChosen] = useState<string | number>();
  const known = matches.findIndex((index) => rowKey(rows[index]) === chosen);
  const place = known < 0 ? matches.length - 1 : known;
  const step = (direction: FindDirection) => {
    const { length } = matches;
    const next = matches[(place + (direction === 'next' ? 1 : -1) + length) % length];
    if (next !== undefined) setChosen(rowKey(rows[next]));
  };
  return {
    open,
    text,
    setText: (next) => {
      setText(next);
      setChosen(undefined);
    },
    wanted,
    current: matches[place],
    status: matches.length === 0 ? 'No matches' : `${place + 1} of ${matches.length}`,
    step,
  };
}

const isHidden = (row: ChatRow, hidden: ReadonlySet<number>): boolean =>
  row.kind === 'entry' && hidden.has(row.entry.event.seq);
