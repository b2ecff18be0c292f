import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AgentChoice, AgentProtocol } from '@belay/protocol';
import { ChoiceField } from '@/components/ui/choice';
import { CheckField, Field, TextField } from '@/components/ui/field';
import { agentProtocols } from '@/lib/agent-protocols';
import { agentsQuery } from '@/lib/queries';
import { useAdmin } from '@/lib/role';
import { usableAgents } from '@/lib/usable-agents';
import { AgentSelect } from './agent-select';
import { misfitOf } from './misfit-of';
import { OtherAgents } from './other-agents';
import type { SessionForm } from './session-form';
import { signsIn } from './signs-in';

interface AgentFieldProps {
  form: Pick<SessionForm, 'agent' | 'protocol' | 'small' | 'login' | 'models' | 'others'>;
  onChange(part: Partial<SessionForm>): void;
}

/** The agents that work on the task. Renders nothing while there is none besides Belay's own. */
export function AgentField({ form, onChange }: AgentFieldProps) {
  const { data = [] } = useQuery(agentsQuery);
  const chosen = usableAgents(data).find(({ name }) => name === form.agent);
  if (data.length === 0) return null;
  const login = signsIn(form, chosen);
  const misfit = login ? undefined : misfitOf(chosen, form.models);
  return (
    <div className="space-y-3">
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
        {chosen && !login && (
          <TextField
            label="Model for small tasks"
            hint="Of the same provider, for titles and summaries. Leave empty for the model above."
            placeholder={form.models[0] ?? ''}
            value={form.small}
            onChange={(small) => onChange({ small })}
          />
        )}
      </div>
      {chosen && <HowItRuns agent={chosen} form={form} onChange={onChange} />}
      {!login && <OtherAgents agents={data} form={form} onChange={onChange} />}
      {!chosen && <InstallLink agents={data} />}
    </div>
  );
}

/** How the agent is driven, and who signs in to it. */
function HowItRuns({ agent, form, onChange }: AgentFieldProps & { agent: AgentChoice }) {
  const login = signsIn(form, agent);
  return (
    <>
      {!login && <ProtocolField agent={agent} form={form} onChange={onChange} />}
      {agent.login && (
        <CheckField value={login} onChange={(next) => onChange({ login: next })}>
          <span>
            {agent.login === 'kept' ? 'Use my own sign-in' : 'Sign in myself'}, with my
            subscription, in the agent’s terminal
            <span className="mt-0.5 block text-xs text-faint">
              The sandbox then holds my credential and reaches the vendor’s hosts; Belay sees,
              counts and holds nothing of what the agent sends.
            </span>
          </span>
        </CheckField>
      )}
    </>
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

/** For those who may install some of the agents. */
function InstallLink({ agents }: { agents: readonly AgentChoice[] }) {
  const isAdmin = useAdmin();
  if (!isAdmin || usableAgents(agents).length === agents.length) return null;
  return (
    <p className="text-xs text-faint">
      Install agents that you know in{' '}
      <Link to="/settings" search={{ section: 'agents' }} className="underline">
        the settings
      </Link>
      .
    </p>
  );
}
