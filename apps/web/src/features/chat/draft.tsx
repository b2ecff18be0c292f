import { Markdown } from '@/components/ui/markdown';
import { useLog } from '../sessions/session-context';

/** The reply that is being written. */
export function Draft() {
  const draft = useLog((log) => log.draft);
  if (!draft) return null;
  return (
    <div className="py-2 text-base">
      {draft.reasoning && !draft.text && (
        <p className="line-clamp-3 border-l-2 pl-3 text-sm whitespace-pre-wrap text-faint">
          {draft.reasoning.slice(-400)}
        </p>
      )}
      <Markdown text={draft.text} />
    </div>
  );
}
