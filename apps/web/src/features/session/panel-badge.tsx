import { isEvent, planProgress } from '@belay/protocol';
import { useView } from '@/features/session-log/session-context';
import type { PanelId } from '@/lib/panels';

/** The badge of a tab, which summarizes the panel. */
export function PanelBadge({ panel }: { panel: PanelId }) {
  if (panel === 'changes') return <ChangedFiles />;
  if (panel === 'plan') return <PlanProgress />;
  return null;
}

function ChangedFiles() {
  const commits = useView((view) => view.commits);
  const files = new Set(
    [...commits.values()].flatMap((event) =>
      isEvent(event, 'commit') ? event.args.files.map(({ path }) => path) : [],
    ),
  );
  return files.size ? <span className="text-xs text-faint tabular-nums">{files.size}</span> : null;
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
