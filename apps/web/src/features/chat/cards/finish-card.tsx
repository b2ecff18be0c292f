import { CircleCheck, CircleDashed, CircleX } from 'lucide-react';
import { outputOf, readableOutput, type CallOf } from '@belay/protocol';
import { Markdown } from '@/components/ui/markdown';
import { VisibleText } from '@/components/ui/visible-text';
import { useView } from '@/features/session-log/session-context';

/** How the agent ended the task, or why it could not end it yet. */
export function FinishCard({ call }: { call: CallOf<'finish'> }) {
  const result = useView((view) => view.results.get(call.id ?? ''));
  const refusal = result && !outputOf('finish', result.args) ? readableOutput(result.args) : null;
  const failure = call.args.outcome === 'failure';
  if (refusal !== null)
    return (
      <div className="py-2">
        <div className="rounded-lg border border-dashed px-3 py-2 text-muted">
          <p className="flex items-center gap-1.5 text-sm font-medium">
            <CircleDashed size={15} aria-hidden /> Not finished
          </p>
          <Markdown text={call.args.summary} />
          <p className="mt-1 text-sm text-faint">
            <VisibleText text={refusal} />
          </p>
        </div>
      </div>
    );
  const Icon = failure ? CircleX : CircleCheck;
  return (
    <div className="py-2">
      <div className={`rounded-lg border px-3 py-2 ${failure ? 'bg-fail-soft' : 'bg-pass-soft'}`}>
        <p
          className={`flex items-center gap-1.5 text-sm font-medium ${failure ? 'text-fail' : 'text-pass'}`}
        >
          <Icon size={15} aria-hidden /> {failure ? 'Could not be done' : 'Done'}
        </p>
        <Markdown text={call.args.summary} />
      </div>
    </div>
  );
}
