import { isEnded, type Event } from '@belay/protocol';
import { Markdown } from '@/components/ui/markdown';
import { QuestionAnswer } from '../approvals/question-answer';
import { useSessionState } from '../sessions/queries';
import { useIsPast, useSessionId, useView } from '../sessions/session-context';
import { textOf } from './text-of';

/** A question of the agent, and what was answered. */
export function AskCard({ event }: { event: Event }) {
  const id = useSessionId();
  const state = useSessionState(id);
  const past = useIsPast();
  const result = useView((view) => view.results.get(event.id ?? ''));
  const question = textOf(event.args['question']);
  const options = Array.isArray(event.args['options']) ? (event.args['options'] as string[]) : [];
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
              {result
                ? `Answered: ${textOf((result.args.output as { answer?: unknown }).answer)}`
                : 'Not answered'}
            </p>
          </>
        )}
      </div>
    </div>
  );
}
