import { FoldMark } from '@/components/ui/fold';
import { VisibleText } from '@/components/ui/visible-text';
import { usePreferences } from '@/lib/preferences';

/** The model’s reasoning, folded unless the user’s preferences unfold it. */
export function Reasoning({ text, label }: { text: string; label: string }) {
  const open = usePreferences((state) => state.reasoning);
  return (
    <details open={open} className="group/fold text-sm text-muted">
      <summary className="flex list-none items-center gap-1 text-faint hover:text-ink">
        <FoldMark />
        <span className="shrink-0">{label}</span>
        <span className="truncate group-open/fold:hidden">
          · <VisibleText text={text.slice(0, 120)} />
        </span>
      </summary>
      <p className="mt-1 border-l-2 pl-3 whitespace-pre-wrap">
        <VisibleText text={text} />
      </p>
    </details>
  );
}
