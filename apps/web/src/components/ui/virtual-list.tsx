import { useCallback, useRef, type ReactNode } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';

interface VirtualListProps<T> {
  items: readonly T[];
  /** Pass the same function each time: a new one causes every row to be measured again. */
  keyOf(item: T): string | number;
  render(item: T, index: number): ReactNode;
  /** The assumed height of a row until it is measured, in pixels. */
  estimate: number;
  label: string;
  className?: string;
}

/** A long list that renders only the visible rows. */
export function VirtualList<T>({
  items,
  keyOf,
  render,
  estimate,
  label,
  className,
}: VirtualListProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const getItemKey = useCallback(
    (index: number) => (items[index] === undefined ? index : keyOf(items[index])),
    [items, keyOf],
  );
  // oxlint-disable-next-line react/incompatible-library -- the React compiler is not used
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate,
    getItemKey,
    overscan: 8,
  });
  return (
    <div
      ref={scroller}
      tabIndex={0}
      aria-label={label}
      role="region"
      className={className ?? 'h-full overflow-auto'}
    >
      <ul style={{ height: rows.getTotalSize() }} className="relative w-full">
        {rows.getVirtualItems().map((row) => {
          const item = items[row.index];
          return item === undefined ? null : (
            <li
              key={row.key}
              ref={rows.measureElement}
              data-index={row.index}
              className="absolute top-0 left-0 w-full"
              style={{ transform: `translateY(${row.start}px)` }}
            >
              {render(item, row.index)}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
