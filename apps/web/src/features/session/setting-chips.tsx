import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import {
  approvalMode,
  approvalModes,
  isEnded,
  networkProfile,
  networkProfiles,
  visibleText,
  type AgentOption,
} from '@belay/protocol';
import {
  ChevronDown,
  Cpu,
  Globe,
  ShieldQuestion,
  SlidersHorizontal,
  type LucideIcon,
} from 'lucide-react';
import { Menu, type MenuItem } from '@/components/ui/menu';
import {
  approvalControls,
  changeAgentOption,
  changeModel,
  changeNetwork,
  runControl,
  type SessionControl,
} from '@/features/session-controls/session-controls';
import { useSessionId, useView } from '@/features/session-log/session-context';
import { useSummary } from '@/lib/summaries';
import { modelsQuery } from '@/lib/queries';
import { shortModelName } from '@/lib/short-model-name';

/**
 * Menus to change the model, approvals and network of a running session, and the options of its
 * agent’s program. Their values are shown if there is space, or with `labelled`, which makes them a row of their own.
 */
export function SettingChips({ labelled = false }: { labelled?: boolean }) {
  const summary = useSummary(useSessionId());
  const { data: models = [] } = useQuery(modelsQuery);
  const agentOptions = useView((view) => view.agentSettings?.options ?? noOptions);
  if (!summary || isEnded(summary.state)) return null;
  const { model, approvals, network, agent } = summary;
  // The server sees no calls of an agent that its user signs in to.
  const isSeen = agent?.login === undefined;
  // The session’s model is chosen above, and the program follows.
  const own = agentOptions.filter(({ category }) => category !== 'model');
  const option = (isNow: boolean, control: SessionControl): MenuItem => ({
    label: control.label,
    hint: isNow ? 'now' : '',
    disabled: isNow,
    run: () => runControl(control, summary),
  });
  return (
    <div
      className={clsx(
        // A program may offer many options.
        'flex shrink-0 items-center gap-1 overflow-x-auto [scrollbar-width:none]',
        labelled ? 'border-b bg-panel px-3 py-1' : 'max-w-1/2',
      )}
    >
      {isSeen && (
        <>
          <Chip
            labelled={labelled}
            icon={Cpu}
            name="Model"
            value={shortModelName(summary.model)}
            items={models
              .filter(({ name, ready }) => ready || name === model)
              .map(({ name, title }) => option(name === model, changeModel(name, title)))}
          />
          <Chip
            labelled={labelled}
            icon={ShieldQuestion}
            name="Approvals"
            value={approvalModes[approvals].short}
            items={approvalMode.options.map((mode) =>
              option(mode === approvals, approvalControls[mode]),
            )}
          />
        </>
      )}
      {network && (
        <Chip
          labelled={labelled}
          icon={Globe}
          name="Network"
          value={networkProfiles[network].short}
          items={networkProfile.options.map((profile) =>
            option(profile === network, changeNetwork(profile)),
          )}
        />
      )}
      {own.map(({ id, name, value, choices }) => (
        <Chip
          key={id}
          labelled={labelled}
          icon={SlidersHorizontal}
          name={visibleText(name)}
          value={visibleText(choices.find((one) => one.value === value)?.name ?? value)}
          items={choices.map((choice) => ({
            ...option(choice.value === value, changeAgentOption({ id, name }, choice)),
            label: visibleText(choice.name),
          }))}
        />
      ))}
    </div>
  );
}

const noOptions: readonly AgentOption[] = [];

interface ChipProps {
  labelled: boolean;
  icon: LucideIcon;
  name: string;
  value: string;
  items: readonly MenuItem[];
}

function Chip({ labelled, icon: Icon, name, value, items }: ChipProps) {
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={`${name}: ${value}`}
          title={`${name}: ${value}`}
          className="inline-flex h-6 max-w-40 shrink-0 items-center gap-1 rounded-md border px-1.5 text-xs text-muted hover:bg-hover hover:text-ink"
        >
          <Icon size={12} aria-hidden className="shrink-0 text-faint" />
          <span className={clsx('truncate', !labelled && 'max-xl:hidden')}>{value}</span>
          <ChevronDown size={11} aria-hidden className="shrink-0 text-faint" />
        </button>
      }
      items={() => items}
    />
  );
}
