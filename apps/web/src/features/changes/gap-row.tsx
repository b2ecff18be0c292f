import { ArrowDownToLine, ArrowUpToLine, UnfoldVertical } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { pluralText } from '@belay/protocol';
import { contextStep, type Gap } from './context-lines';
import type { FileState } from './diff-rows';

interface GapRowProps {
  gap: Gap;
  /** Whether the gap is after the last hunk. */
  isLast: boolean;
  state: FileState;
  onShow(lines: { begin: number; end: number }): void;
}

/** A placeholder for lines omitted from the diff, with buttons to show them. */
export function GapRow({ gap: { index, from, to }, isLast, state, onShow }: GapRowProps) {
  const hidden = to === null ? null : to - from + 1;
  const isShort = hidden !== null && hidden <= contextStep;
  const step = `Show ${contextStep} more lines`;
  return (
    <div className="flex min-h-7 flex-wrap items-center gap-x-2 border-t bg-sunken px-3 text-xs text-faint">
      <UnfoldVertical size={12} aria-hidden />
      <span className="tabular-nums">
        {hidden === null ? 'The rest of the file' : `${pluralText(hidden, 'line')} not shown`}
      </span>
      {state && 'failed' in state && <span className="text-fail">{state.failed}</span>}
      {!isShort && index > 0 && (
        <Button
          small
          look="ghost"
          aria-label={`${step} after line ${from - 1}`}
          onClick={() => onShow({ begin: contextStep, end: 0 })}
        >
          <ArrowDownToLine size={12} aria-hidden /> {step}
        </Button>
      )}
      {!isShort && !isLast && to !== null && (
        <Button
          small
          look="ghost"
          aria-label={`${step} before line ${to + 1}`}
          onClick={() => onShow({ begin: 0, end: contextStep })}
        >
          <ArrowUpToLine size={12} aria-hidden /> {step}
        </Button>
      )}
      {hidden !== null && (
        <Button small look="ghost" onClick={() => onShow({ begin: hidden, end: 0 })}>
          Show {isShort ? pluralText(hidden, 'line') : 'all'}
        </Button>
      )}
    </div>
  );
}
