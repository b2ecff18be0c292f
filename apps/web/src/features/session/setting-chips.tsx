import { useQuery } from '@tanstack/react-query';
import { isEnded, type SessionSummary } from '@belay/protocol';
import { ChevronDown, Cpu, Globe, ShieldQuestion, type LucideIcon } from 'lucide-react';
import { Menu, type MenuItem } from '@/components/ui/menu';
import { approvalModes } from '@/features/session-controls/session-actions';
import { useSessionId } from '@/features/session-log/session-context';
import { useSummary } from '@/features/session-log/summaries';
import { modelsQuery } from '@/lib/queries';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

const networks = [
  { profile: 'none', label: 'No network', chip: 'No network' },
  { profile: 'packages', label: 'Package registries', chip: 'Registries' },
  { profile: 'list', label: 'Only the allowed hosts', chip: 'Allowed hosts' },
  { profile: 'open', label: 'Everything', chip: 'Open network' },
] as const;

/** Model, approvals and network of the session, each to be changed while it works. */
export function SettingChips() {
  const summary = useSummary(useSessionId());
  const { data: models = [] } = useQuery(modelsQuery);
  if (!summary || isEnded(summary.state)) return null;
  const { model, approvals, network } = summary;
  const change = (change: Parameters<typeof client.sessions.change>[1], done: string) => () =>
    attempt(() => client.sessions.change(summary.id, change), done);
  return (
    <div className="flex items-center gap-1 max-md:hidden">
      <Chip
        icon={Cpu}
        name="Model"
        value={shortName(summary)}
        items={models
          .filter(({ name, ready }) => ready || name === model)
          .map(({ name, title }) =>
            option(
              title,
              name === model,
              change({ model: name }, 'The next step takes this model.'),
            ),
          )}
      />
      <Chip
        icon={ShieldQuestion}
        name="Approvals"
        value={approvalModes.find(({ mode }) => mode === approvals)?.chip ?? approvals}
        items={approvalModes.map(({ mode, label }) =>
          option(label, mode === approvals, change({ approvals: mode }, 'Approvals changed.')),
        )}
      />
      {network && (
        <Chip
          icon={Globe}
          name="Network"
          value={networks.find(({ profile }) => profile === network)?.chip ?? network}
          items={networks.map(({ profile, label }) =>
            option(label, profile === network, change({ egress: { profile } }, 'Network changed.')),
          )}
        />
      )}
    </div>
  );
}

const option = (label: string, isNow: boolean, run: () => void): MenuItem => ({
  label,
  hint: isNow ? 'now' : '',
  disabled: isNow,
  run,
});

const shortName = ({ model }: SessionSummary): string => model.split(/[:/]/).at(-1) ?? model;

interface ChipProps {
  icon: LucideIcon;
  name: string;
  value: string;
  items: readonly MenuItem[];
}

function Chip({ icon: Icon, name, value, items }: ChipProps) {
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={`${name}: ${value}`}
          title={`${name}: ${value}`}
          className="inline-flex h-6 max-w-40 items-center gap-1 rounded-md border px-1.5 text-xs text-muted hover:bg-hover hover:text-ink"
        >
          <Icon size={12} aria-hidden className="shrink-0 text-faint" />
          <span className="truncate max-xl:hidden">{value}</span>
          <ChevronDown size={11} aria-hidden className="shrink-0 text-faint" />
        </button>
      }
      items={() => items}
    />
  );
}
