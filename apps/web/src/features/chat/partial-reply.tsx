import { Markdown } from '@/components/ui/markdown';
import { useLog } from '@/features/session-log/session-context';
import { replyBlocks } from './reply-blocks';

/** The reply that the model is currently writing. */
export function PartialReply() {
  const reply = useLog((log) => log.partialReply);
  if (!reply) return null;
  return (
    <div className="py-2 text-base">
      {reply.reasoning && !reply.text && (
        <p className="line-clamp-3 border-l-2 pl-3 text-sm whitespace-pre-wrap text-faint">
          {reply.reasoning.slice(-400)}
        </p>
      )}
      {replyBlocks(reply.text).map((text, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- blocks are only added at the end
        <div key={index} className="not-first:mt-2">
          <Markdown text={text} />
        </div>
      ))}
    </div>
  );
}
