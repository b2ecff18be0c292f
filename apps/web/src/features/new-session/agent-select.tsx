import type { AgentChoice } from '@belay/protocol';
import { Select } from '@/components/ui/field';
import { usableAgents } from '@/lib/usable-agents';

interface AgentSelectProps {
  agents: readonly AgentChoice[];
  /** Empty for Belay’s own. */
  value: string;
  onChange(name: string): void;
}

/** Belay’s own agent and the others; those that are not installed cannot be chosen. */
export function AgentSelect({ agents, value, onChange }: AgentSelectProps) {
  const usable = usableAgents(agents);
  return (
    <Select value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">Belay</option>
      {usable.map(({ name, title, version }) => (
        <option key={name} value={name}>
          {version === null ? title : `${title} ${version}`}
        </option>
      ))}
      {agents
        .filter((agent) => !usable.includes(agent))
        .map(({ name, title }) => (
          <option key={name} value={name} disabled>
            {title} (not installed)
          </option>
        ))}
    </Select>
  );
}
