import { isFact } from '@belay/protocol';
import { progressOf } from '../planner/progress';
import type { PanelId } from './dock-store';
import { useView } from './session-context';

/** What a tab says of its panel before it is opened. */
export function PanelBadge({ panel }: { panel: PanelId }) {
  if (panel === 'changes') return <ChangedFiles />;
  if (panel === 'plan') return <PlanProgress />;
  return null;
}

function ChangedFiles() {
  const commits = useView((view) => view.commits);
  const files = new Set(
    [...commits.values()].flatMap((event) =>
      isFact(event, 'commit') ? event.args.files.map(({ path }) => path) : [],
    ),
  );
  return files.size ? <span className="text-xs text-faint tabular-nums">{files.size}</span> : null;
}

function PlanProgress() {
  const plan = useView((view) => view.plan);
  const { steps, done } = progressOf(plan?.args.markdown ?? '');
  if (!steps) return null;
  return (
    <span className="text-xs text-faint tabular-nums">
      {done}/{steps}
    </span>
  );
}
