import { useEffect, useState } from 'react';
import { MessagesSquare } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Input } from '@/components/ui/field';
import { useSessionId, useView } from '@/features/session-log/session-context';
import { askConfirm } from '@/lib/ask';
import { pluralText } from '@belay/protocol';
import { toastError } from '@/lib/toasts';
import { useReviewDraft, useReviewDrafts, type ReviewDraft } from './review-drafts';
import { submitReview } from './submit-review';

/** Shown below the changes while there is a drafted review, which is submitted all at once. */
export function ReviewBar() {
  const session = useSessionId();
  const draft = useReviewDraft(session);
  const { setOverall, clear } = useReviewDrafts.getState();
  const [sending, setSending] = useState(false);
  // Its reply may have been lost, or another tab may have sent it.
  const isSent = useView(({ reviews }) => reviews.some(({ args }) => args.review?.id === draft.id));
  // Otherwise, later comments would be added to the sent review.
  useEffect(() => {
    if (isSent) clear(session);
  }, [isSent, clear, session]);
  if (draft.comments.length === 0 || isSent) return null;
  const submit = () => {
    setSending(true);
    submitReview(session, draft)
      .catch(toastError)
      .finally(() => setSending(false));
  };
  const discard = async () => {
    const sure = await askConfirm({
      title: 'Discard the review?',
      text: 'The agent has not received these comments.',
      lines: draft.comments.map(({ path, to, text }) => `${path}:${to}  ${text}`),
      verb: 'Discard',
      danger: true,
    });
    if (sure) clear(session);
  };
  return (
    <div
      role="toolbar"
      aria-label="Review"
      className="flex shrink-0 flex-wrap items-center gap-2 border-t bg-amber-soft px-3 py-1.5 text-sm"
    >
      <MessagesSquare size={14} aria-hidden className="text-amber" />
      <span className="shrink-0">{countsText(draft)} not sent yet</span>
      <Input
        aria-label="Overall comment"
        placeholder="Overall comment (optional)"
        value={draft.overall}
        onChange={(event) => setOverall(session, event.target.value)}
        className="h-7 min-w-40 flex-1"
      />
      <Button small look="ghost" disabled={sending} onClick={() => void discard()}>
        Discard…
      </Button>
      <Button small look="amber" disabled={sending} onClick={submit}>
        {sending ? 'Sending…' : 'Submit review'}
      </Button>
    </div>
  );
}

function countsText({ comments }: ReviewDraft): string {
  const rejected = comments.filter((comment) => comment.rejected).length;
  const others = comments.length - rejected;
  return [
    others > 0 && pluralText(others, 'comment'),
    rejected > 0 && pluralText(rejected, 'rejected change'),
  ]
    .filter(Boolean)
    .join(' and ');
}
