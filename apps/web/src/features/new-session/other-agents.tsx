import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { maxCompared, type AgentChoice } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Field, Select } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import { modelsQuery } from '@/lib/queries';
import { usableAgents } from '@/lib/usable-agents';
import { AgentSelect } from './agent-select';
import { misfitOf } from './misfit-of';
import type { OtherAgent, SessionForm } from './session-form';

interface OtherAgentsProps {
  agents: readonly AgentChoice[];
  form: Pick<SessionForm, 'agent' | 'models' | 'others'>;
  onChange(part: Pick<SessionForm, 'others'>): void;
}

/** Further agents for the same task, each with its model. Their results are compared. Renders nothing without agents. */
export function OtherAgents({ agents, form, onChange }: OtherAgentsProps) {
  const { data: choices = [] } = useQuery(modelsQuery);
  const { models, others } = form;
  const ready = choices.filter((choice) => choice.ready).map(({ name }) => name);
  const usable = usableAgents(agents);
  if (usable.length === 0) return null;
  const modelsFor = (name: string, also: readonly string[]): string[] => {
    const agent = usable.find((one) => one.name === name);
    const all = new Set([...also, ...models, ...ready]);
    return [...all].filter((model) => misfitOf(agent, [model]) === undefined);
  };
  const withModel = (agent: string): OtherAgent => {
    const [model = ''] = modelsFor(agent, []);
    return { agent, model };
  };
  const add = () => {
    const present = new Set([form.agent, ...others.map(({ agent }) => agent)]);
    const absent = [...usable.map(({ name }) => name), ''].filter((name) => !present.has(name));
    const next = absent.find((name) => modelsFor(name, []).length > 0) ?? absent[0] ?? '';
    onChange({ others: [...others, withModel(next)] });
  };
  const replace = (index: number, other: OtherAgent) =>
    onChange({ others: others.map((one, at) => (at === index ? other : one)) });
  return (
    <>
      {others.map((other, index) => (
        <OtherAgentFields
          // oxlint-disable-next-line react/no-array-index-key -- the same one may be there twice
          key={index}
          number={index + 2}
          agents={agents}
          other={other}
          models={modelsFor(other.agent, other.model ? [other.model] : [])}
          onAgent={(agent) => replace(index, withModel(agent))}
          onModel={(model) => replace(index, { ...other, model })}
          onRemove={() => onChange({ others: others.filter((_, at) => at !== index) })}
        />
      ))}
      {models.length + others.length < maxCompared && (
        <Button small onClick={add}>
          Compare with another agent
        </Button>
      )}
    </>
  );
}

interface OtherAgentFieldsProps {
  number: number;
  agents: readonly AgentChoice[];
  other: OtherAgent;
  models: readonly string[];
  onAgent(agent: string): void;
  onModel(model: string): void;
  onRemove(): void;
}

function OtherAgentFields({ number, agents, other, models, ...on }: OtherAgentFieldsProps) {
  return (
    <div className="grid grid-cols-2 gap-x-4 gap-y-2 max-sm:grid-cols-1">
      <Field label={`Agent ${number}`}>
        <AgentSelect agents={agents} value={other.agent} onChange={on.onAgent} />
      </Field>
      <div className="flex gap-1">
        <Field
          label={`Model of agent ${number}`}
          className="flex-1"
          hint={models.length === 0 ? 'None of the models above is for this agent.' : undefined}
        >
          <Select value={other.model} onChange={({ target }) => on.onModel(target.value)}>
            {other.model === '' && <option value="">Choose a model</option>}
            {models.map((model) => (
              <option key={model}>{model}</option>
            ))}
          </Select>
        </Field>
        <IconButton
          label={`Remove agent ${number}`}
          icon={X}
          onClick={on.onRemove}
          className="mt-6.5"
        />
      </div>
    </div>
  );
}
