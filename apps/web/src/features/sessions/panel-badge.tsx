import { isFact } from '@belay/protocol';
import type { PanelId } from './dock-store';
import { useSessionId, useView } from './session-context';
import { useSummary } from './queries';

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
  const plan = useSummary(useSessionId())?.plan;
  if (!plan?.steps) return null;
  return (
    <span className="text-xs text-faint tabular-nums">
      {plan.done}/{plan.steps}
    </span>
  );
}
