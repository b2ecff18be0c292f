import { numberText, planProgress } from '@belay/protocol';
import { useChangesTotal } from '@/features/changes/use-changes';
import { useView } from '@/features/session-log/session-context';
import type { PanelId } from '@/lib/panels';

/** The badge of a tab, which summarizes the panel. */
export function PanelBadge({ panel }: { panel: PanelId }) {
  if (panel === 'changes') return <ChangedFiles />;
  if (panel === 'plan') return <PlanProgress />;
  return null;
}

/** The same number as in the panel; a dot while the panel has not counted the latest changes. */
function ChangedFiles() {
  const hasChanges = useView((view) => view.commits.size > 0);
  const total = useChangesTotal();
  if (!hasChanges || total?.files === 0) return null;
  return (
    <span className="text-xs text-faint tabular-nums">{total ? numberText(total.files) : '•'}</span>
  );
}

function PlanProgress() {
  const plan = useView((view) => view.plan);
  const { steps, done } = planProgress(plan?.args.markdown ?? '');
  if (!steps) return null;
  return (
    <span className="text-xs text-faint tabular-nums">
      {done}/{steps}
    </span>
  );
}
