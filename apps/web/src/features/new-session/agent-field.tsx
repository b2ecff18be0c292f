import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AgentChoice, AgentProtocol } from '@belay/protocol';
import { ChoiceField } from '@/components/ui/choice';
import { Field, TextField } from '@/components/ui/field';
import { agentProtocols } from '@/lib/agent-protocols';
import { agentsQuery } from '@/lib/queries';
import { useAdmin } from '@/lib/role';
import { usableAgents } from '@/lib/usable-agents';
import { AgentSelect } from './agent-select';
import { misfitOf } from './misfit-of';
import { OtherAgents } from './other-agents';
import type { SessionForm } from './session-form';

interface AgentFieldProps {
  form: Pick<SessionForm, 'agent' | 'protocol' | 'small' | 'models' | 'others'>;
  onChange(part: Partial<SessionForm>): void;
}

/** The agents that work on the task. Renders nothing while there is none besides Belay's own. */
export function AgentField({ form, onChange }: AgentFieldProps) {
  const { data = [] } = useQuery(agentsQuery);
  const isAdmin = useAdmin();
  const usable = usableAgents(data);
  const missing = data.filter((agent) => !usable.includes(agent));
  const chosen = usable.find(({ name }) => name === form.agent);
  if (data.length === 0) return null;
  const misfit = misfitOf(chosen, form.models);
  return (
    <div className="space-y-2">
      <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        <Field
          label="Agent"
          hint={
            misfit === undefined ? chosen?.about : <strong className="text-fail">{misfit}</strong>
          }
        >
          <AgentSelect
            agents={data}
            value={chosen?.name ?? ''}
            onChange={(name) => onChange({ agent: name, protocol: '' })}
          />
        </Field>
        {chosen && (
          <TextField
            label="Model for small tasks"
            hint="Of the same provider, for titles and summaries. Leave empty for the model above."
            placeholder={form.models[0] ?? ''}
            value={form.small}
            onChange={(small) => onChange({ small })}
          />
        )}
      </div>
      {chosen && <ProtocolField agent={chosen} form={form} onChange={onChange} />}
      {usable.length > 0 && <OtherAgents agents={data} form={form} onChange={onChange} />}
      {isAdmin && missing.length > 0 && !chosen && <InstallLink />}
    </div>
  );
}

function ProtocolField({
  agent: { protocols },
  form,
  onChange,
}: AgentFieldProps & { agent: AgentChoice }) {
  const [best = 'acp', ...others] = protocols;
  if (others.length === 0) return null;
  return (
    <ChoiceField
      label="Protocol"
      hint="In a terminal, you type; Belay tells you when it waits for you."
      value={form.protocol || best}
      options={protocols.map((value) => ({ value, label: agentProtocols[value] }))}
      onChange={(protocol: AgentProtocol) => onChange({ protocol })}
    />
  );
}

const InstallLink = () => (
  <p className="text-xs text-faint">
    Install agents that you know in{' '}
    <Link to="/settings" search={{ section: 'agents' }} className="underline">
      the settings
    </Link>
    .
  </p>
);
