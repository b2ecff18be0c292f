import { Square, SquareCheck, UnfoldVertical } from 'lucide-react';
import { clsx } from 'clsx';
import { visibleText } from '@belay/protocol';
import { FoldButton } from '@/components/ui/fold';
import { VisibleText } from '@/components/ui/visible-text';
import type { DiffedFile } from './diffed-files';
import { parseHead } from './diff';

interface FileRowProps {
  file: DiffedFile;
  open: boolean;
  onToggle(): void;
  /** Whether all lines of the file are shown, not just those around its changes. */
  whole: boolean;
  onWhole(): void;
  /** Undefined if the changes cannot be reviewed. */
  viewed: boolean | undefined;
  onViewed(): void;
}

/** The header row of a file, which folds and unfolds its changes. */
export function FileRow({ file, open, onToggle, whole, onWhole, viewed, onViewed }: FileRowProps) {
  const from = file.status === 'renamed' && file.part ? parseHead(file.part).from : null;
  return (
    <div className="flex h-7.25 w-full items-center border-b bg-sunken pr-3 text-xs">
      <FoldButton open={open} onToggle={onToggle} className="h-full flex-1 pr-2 pl-3">
        <span
          className={clsx('min-w-0 flex-1 truncate font-mono', viewed && 'text-muted')}
          title={visibleText(file.path)}
        >
          <VisibleText text={file.path} />
        </span>
        {from !== null && (
          <span className="max-w-1/2 truncate text-faint" title={visibleText(from)}>
            renamed from <VisibleText text={from} />
          </span>
        )}
        {file.status === 'added' && <span className="text-faint">new</span>}
        {file.status === 'deleted' && <span className="text-faint">deleted</span>}
        <span className="text-pass tabular-nums">+{file.added}</span>
        <span className="text-fail tabular-nums">−{file.removed}</span>
      </FoldButton>
      {file.status === 'modified' && !file.binary && (
        <button
          type="button"
          aria-pressed={whole}
          aria-label={`Show the whole file ${visibleText(file.path)}`}
          title="Show the whole file"
          onClick={onWhole}
          className="flex size-6 shrink-0 items-center justify-center rounded-sm text-muted hover:bg-hover aria-pressed:bg-hover aria-pressed:text-ink"
        >
          <UnfoldVertical size={13} aria-hidden />
        </button>
      )}
      {viewed !== undefined && (
        <button
          type="button"
          role="checkbox"
          aria-checked={viewed}
          aria-label={`Viewed ${visibleText(file.path)}`}
          onClick={onViewed}
          className="flex h-6 shrink-0 items-center gap-1 rounded-sm px-1.5 text-muted hover:bg-hover"
        >
          {viewed ? <SquareCheck size={13} aria-hidden /> : <Square size={13} aria-hidden />}
          Viewed
        </button>
      )}
    </div>
  );
}
