import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { requestedCall, durationText, type SessionSummary } from '@belay/protocol';
import { ApprovalActions } from './approval-actions';
import { approvalQuestion } from './approval-question';
import { QuestionAnswer } from './question-answer';
import { VisibleText } from '@/components/ui/visible-text';
import { useNow } from '@/lib/use-now';

/** The approval requests and the question of a session, with controls to answer them. */
export function WaitingQuestions({ session }: { session: SessionSummary }) {
  return (
    <div className="space-y-2">
      <WaitingTime since={session.updated} />
      {session.waitingFor.map((request) => (
        <div key={request.id} className="space-y-1.5">
          <p className="text-sm">
            <VisibleText text={approvalQuestion(request)} />{' '}
            <RequestedCall text={requestedCall(request)} />
          </p>
          <ApprovalActions session={session.id} request={request} />
        </div>
      ))}
      {session.attention !== null && (
        <p className="flex flex-wrap items-baseline gap-x-2 text-sm">
          <VisibleText text={session.attention} />
          <Link to="/sessions/$id" params={{ id: session.id }} className="underline">
            Open it
          </Link>
        </p>
      )}
      {session.question !== null && (
        <QuestionAnswer
          key={session.question}
          session={session.id}
          question={session.question}
          options={session.options}
        />
      )}
    </div>
  );
}

/** A script has lines of its own, all of them in sight. */
const RequestedCall = ({ text }: { text: string }) => (
  <code className={clsx('break-all whitespace-pre-wrap', text.includes('\n') && 'mt-1 block')}>
    <VisibleText text={text} />
  </code>
);

/** How long the session has waited for the user; shown after a minute. */
function WaitingTime({ since }: { since: string }) {
  const seconds = (useNow(5_000) - Date.parse(since)) / 1_000;
  if (seconds < 60) return null;
  return (
    <p className="text-xs text-amber tabular-nums">waiting for you for {durationText(seconds)}</p>
  );
}
