import { clsx } from 'clsx';
import { ownAgent, type AgentChoice } from '@belay/protocol';
import { ChoiceField } from '@/components/ui/choice';
import { Field, optionsOf, TextArea, TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { agentProtocols } from '@/lib/agent-protocols';
import { filledLines } from '@/lib/filled-lines';
import { client } from '@/lib/server';
import { useForm } from '@/lib/use-form';
import { savedSecrets, secretsIn } from './secret-fields';
import { SecretRows } from './secret-rows';

interface AgentFormProps {
  /** The entry to change; null for a new one. */
  agent: AgentChoice | null;
  /** The names that a new entry cannot have. */
  taken?: readonly string[];
  onSaved(): Promise<void>;
  onCancel(): void;
}

/** An agent that is not in the list: its command in the sandbox, and how it is driven. */
export function AgentForm({ agent, taken = [], onSaved, onCancel }: AgentFormProps) {
  const before = fieldsOf(agent);
  const { values, bind, change } = useForm(before);
  const save = async () => {
    const title = values.title.trim();
    await client.agents.saveCustom(agent?.name ?? values.name.trim(), {
      ...(title && { title }),
      // An argument may have line breaks, which the lines of the field do not show.
      command:
        agent && values.command === before.command ? agent.command : filledLines(values.command),
      protocol: values.protocol,
      env: secretsIn(values.env),
    });
    await onSaved();
  };
  return (
    <Form
      label={agent ? `Edit ${agent.title}` : 'New agent'}
      className={clsx('p-3', !agent && 'rounded-md border bg-panel')}
      submit={agent ? 'Save' : 'Add'}
      onSubmit={save}
      onCancel={onCancel}
    >
      {agent ? (
        <h3 className="font-mono text-sm">{agent.name}</h3>
      ) : (
        <TextField
          label="Name"
          hint="Lowercase letters, digits and hyphens, for belay run --agent NAME."
          autoFocus
          required
          maxLength={40}
          pattern="[a-z0-9][a-z0-9\-]*"
          title="Lowercase letters, digits and hyphens"
          placeholder="my-agent"
          check={(name) =>
            [ownAgent, ...taken].includes(name.trim())
              ? 'There is an agent of this name: choose another one.'
              : undefined
          }
          {...bind('name')}
        />
      )}
      <TextField
        label="Title"
        autoFocus={agent !== null}
        maxLength={60}
        placeholder={agent?.name ?? 'My agent'}
        {...bind('title')}
      />
      <ChoiceField
        label="Protocol"
        options={optionsOf(agentProtocols)}
        hint="In a terminal, you type; Belay tells you when it waits for you."
        {...bind('protocol')}
      />
      <Field
        label="Command"
        hint="The program, then its arguments, one per line. In a terminal, {task} stands for the task of the session."
      >
        <TextArea
          required
          className="font-mono text-xs"
          placeholder={'my-agent\n--acp'}
          value={values.command}
          onChange={({ target }) => change({ command: target.value })}
        />
      </Field>
      <SecretRows title="Environment variables" what="variable" {...bind('env')} />
      <p className="rounded-md bg-sunken px-3 py-2 text-sm">
        Programs in the sandbox can read these variables. The agent needs no API key: Belay gives it
        an address and a token for the model of the session.
      </p>
    </Form>
  );
}

const fieldsOf = (agent: AgentChoice | null) => ({
  name: '',
  title: agent && agent.title !== agent.name ? agent.title : '',
  command: agent?.command.join('\n') ?? '',
  protocol: agent?.protocols[0] ?? 'acp',
  env: savedSecrets(agent?.variables ?? []),
});
