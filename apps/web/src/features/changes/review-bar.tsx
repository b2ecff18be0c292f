import { useState } from 'react';
import { MessagesSquare } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { useSessionId } from '@/features/session-log/session-context';
import { askConfirm } from '@/lib/ask';
import { pluralText } from '@belay/protocol';
import { toastError } from '@/lib/toasts';
import { submitReview, useComments, useReviewDrafts } from './review-drafts';

/** Shown below the changes while there are drafted comments, which are submitted all at once. */
export function ReviewBar() {
  const session = useSessionId();
  const comments = useComments(session);
  const [sending, setSending] = useState(false);
  if (comments.length === 0) return null;
  const submit = () => {
    setSending(true);
    submitReview(session, comments)
      .catch(toastError)
      .finally(() => setSending(false));
  };
  const discard = async () => {
    const sure = await askConfirm({
      title: 'Discard the review?',
      text: 'The agent has not received these comments.',
      lines: comments.map(({ path, to, text }) => `${path}:${to}  ${text}`),
      verb: 'Discard',
      danger: true,
    });
    if (sure) useReviewDrafts.getState().clear(session);
  };
  return (
    <div
      role="toolbar"
      aria-label="Review"
      className="flex shrink-0 items-center gap-2 border-t bg-amber-soft px-3 py-1.5 text-sm"
    >
      <MessagesSquare size={14} aria-hidden className="text-amber" />
      <span className="min-w-0 flex-1">{pluralText(comments.length, 'comment')} not sent yet</span>
      <Button small look="ghost" onClick={() => void discard()}>
        Discard…
      </Button>
      <Button small look="amber" disabled={sending} onClick={submit}>
        Submit review
      </Button>
    </div>
  );
}
