import { CircleCheck, CircleX } from 'lucide-react';
import type { CallOf } from '@belay/protocol';
import { Markdown } from '@/components/ui/markdown';

/** How the agent ended the task. */
export function FinishCard({ call }: { call: CallOf<'finish'> }) {
  const failure = call.args.outcome === 'failure';
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
