import { Markdown } from '@/components/ui/markdown';
import { useLog } from '../sessions/session-context';
import { draftBlocks } from './draft-blocks';

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
      {draftBlocks(draft.text).map((text, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- blocks are only added at the end
        <div key={index} className="not-first:mt-2">
          <Markdown text={text} />
        </div>
      ))}
    </div>
  );
}
