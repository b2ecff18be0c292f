import { requestedCall, durationText, type SessionSummary } from '@belay/protocol';
import { ApprovalActions } from './approval-actions';
import { approvalQuestion } from './approval-question';
import { QuestionAnswer } from './question-answer';
import { useNow } from '@/lib/use-now';

/** What a session asks the user, with the answers. */
export function WaitingQuestions({ session }: { session: SessionSummary }) {
  return (
    <div className="space-y-2">
      <WaitingTime since={session.updated} />
      {session.waitingFor.map((request) => (
        <div key={request.id} className="space-y-1.5">
          <p className="text-sm">
            {approvalQuestion(request)}{' '}
            <code className="break-all whitespace-pre-wrap">{requestedCall(request)}</code>
          </p>
          <ApprovalActions session={session.id} request={request} />
        </div>
      ))}
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

/** How long the user has been waited for, once that is a minute. */
function WaitingTime({ since }: { since: string }) {
  const seconds = (useNow(5_000) - Date.parse(since)) / 1_000;
  if (seconds < 60) return null;
  return (
    <p className="text-xs text-amber tabular-nums">waiting for you for {durationText(seconds)}</p>
  );
}
