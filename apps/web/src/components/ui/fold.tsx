import type { ReactNode } from 'react';
import { ChevronRight } from 'lucide-react';
import { clsx } from 'clsx';

interface FoldMarkProps {
  /** Omit within a `<details>` with the class `group/fold`, which provides the state. */
  open?: boolean;
}

/** The chevron of collapsible content. */
export function FoldMark({ open }: FoldMarkProps) {
  return (
    <ChevronRight
      size={13}
      aria-hidden
      className={clsx(
        'shrink-0 text-faint transition-transform duration-100',
        open === undefined ? 'group-open/fold:rotate-90' : open && 'rotate-90',
      )}
    />
  );
}

interface FoldButtonProps {
  open: boolean;
  onToggle(): void;
  className?: string;
  children: ReactNode;
}

/** A button that expands and collapses the content below it. */
export function FoldButton({ open, onToggle, className, children }: FoldButtonProps) {
  return (
    <button
      type="button"
      aria-expanded={open}
      onClick={onToggle}
      className={clsx('flex min-w-0 items-center gap-2 text-left', className)}
    >
      <FoldMark open={open} />
      {children}
    </button>
  );
}
