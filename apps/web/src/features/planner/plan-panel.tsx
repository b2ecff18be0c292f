import { planProgress, clockText } from '@belay/protocol';
import { Empty } from '@/components/ui/empty';
import { Markdown } from '@/components/ui/markdown';
import { Meter } from '@/components/ui/meter';
import { PlanApproval } from './plan-approval';
import { useView } from '@/features/session-log/session-context';

export function PlanPanel() {
  const plan = useView((view) => view.plan);
  if (!plan)
    return (
      <Empty title="No plan yet">
        The agent’s plan appears here once it makes one, with each step ticked off as it is done.
      </Empty>
    );
  const { done, steps } = planProgress(plan.args.markdown);
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label="The plan"
      className="h-full overflow-y-auto p-3 text-sm"
    >
      <PlanApproval markdown={plan.args.markdown} />
      {steps > 0 && (
        <div className="mb-3 flex items-center gap-3 text-muted tabular-nums">
          <Meter label="Steps done" value={done} max={steps} plain />
          <span className="whitespace-nowrap">
            {done} of {steps}
          </span>
        </div>
      )}
      <Markdown text={plan.args.markdown} />
      <p className="mt-3 text-xs text-faint">
        Updated {clockText(plan.time)}
        {plan.args.file !== undefined && <> · saved in {plan.args.file}, where you can edit it</>}
      </p>
    </div>
  );
}
