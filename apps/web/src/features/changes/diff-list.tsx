import { useCallback, useEffect, useEffectEvent, useMemo, useRef, type ReactNode } from 'react';
import { defaultRangeExtractor, useVirtualizer, type Range } from '@tanstack/react-virtual';
import { clsx } from 'clsx';
import { estimatedHeight, type DiffRow } from './diff-rows';

interface DiffListProps {
  rows: readonly DiffRow[];
  /** The file to scroll to; a new object scrolls again. */
  target: { path: string } | null;
  render(row: DiffRow): ReactNode;
}

/** Renders the visible rows, and keeps the row of the file that they belong to at the top. */
export function DiffList({ rows, target, render }: DiffListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const files = useMemo(
    () => rows.flatMap(({ kind }, index) => (kind === 'file' ? [index] : [])),
    [rows],
  );
  const top = useRef(0);
  const rangeExtractor = useCallback(
    (range: Range) => {
      top.current = lastUpTo(files, range.startIndex);
      return [...new Set([top.current, ...defaultRangeExtractor(range)])].toSorted((a, b) => a - b);
    },
    [files],
  );
  const getItemKey = useCallback((index: number) => rows[index]?.key ?? index, [rows]);
  // oxlint-disable-next-line react/incompatible-library -- nothing here is memoized by a compiler
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index] ? estimatedHeight(rows[index]) : 0),
    getItemKey,
    rangeExtractor,
    overscan: 4,
  });
  const go = useEffectEvent((path: string) => {
    const index = files.find((at) => rows[at]?.key === path);
    if (index !== undefined) list.scrollToIndex(index, { align: 'start' });
  });
  useEffect(() => {
    if (target) go(target.path);
  }, [target]);
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label="Diff"
      className="min-h-0 min-w-0 flex-1 overflow-y-auto"
    >
      <ul style={{ height: list.getTotalSize() }} className="relative w-full">
        {list.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index];
          const atTop = index === top.current;
          return row === undefined ? null : (
            <li
              key={key}
              ref={list.measureElement}
              data-index={index}
              className={clsx('top-0 left-0 w-full', atTop ? 'sticky z-10' : 'absolute')}
              style={atTop ? undefined : { transform: `translateY(${start}px)` }}
            >
              {render(row)}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** The largest of these ascending numbers that does not exceed `limit`; 0 if there is none. */
function lastUpTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return numbers[low - 1] ?? 0;
}
