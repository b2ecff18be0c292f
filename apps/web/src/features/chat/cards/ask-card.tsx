import { isEnded, outputOf, type CallOf } from '@belay/protocol';
import { QuestionAnswer } from '@/components/approvals/question-answer';
import { Markdown } from '@/components/ui/markdown';
import { useIsPast, useSessionId, useView } from '@/features/session-log/session-context';
import { useSessionState } from '@/lib/summaries';

/** A question from the agent, and its answer. */
export function AskCard({ call }: { call: CallOf<'ask'> }) {
  const id = useSessionId();
  const state = useSessionState(id);
  const past = useIsPast();
  const result = useView((view) => view.results.get(call.id ?? ''));
  const { question, options } = call.args;
  const answer = result && outputOf('ask', result.args)?.answer;
  const waits = !result && !past && state !== undefined && !isEnded(state);
  return (
    <div className="py-2">
      <div
        className={`rounded-lg border px-3 py-2 ${waits ? 'border-amber-fill bg-amber-soft' : ''}`}
      >
        <p className="mb-0.5 text-xs font-medium text-faint">The agent asks</p>
        {waits ? (
          <QuestionAnswer session={id} question={question} options={options} />
        ) : (
          <>
            <div className="text-base">
              <Markdown text={question} />
            </div>
            <p className="text-sm text-muted">
              {answer === undefined ? 'Not answered' : `Answered: ${answer}`}
            </p>
          </>
        )}
      </div>
    </div>
  );
}
