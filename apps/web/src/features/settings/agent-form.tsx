import type { AgentProtocol } from '@belay/protocol';
import { ChoiceField } from '@/components/ui/choice';
import { Field, optionsOf, TextArea, TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { agentProtocols } from '@/lib/agent-protocols';
import { client } from '@/lib/server';
import { useForm } from '@/lib/use-form';
import type { SecretField } from './mcp-fields';
import { SecretRows } from './secret-rows';

interface AgentFormProps {
  onSaved(): Promise<void>;
  onCancel(): void;
}

/** An agent that is not in the list: its command in the sandbox, and how it is driven. */
export function AgentForm({ onSaved, onCancel }: AgentFormProps) {
  const { values, bind, change } = useForm({
    name: '',
    title: '',
    command: '',
    protocol: 'acp' as AgentProtocol,
    env: [] as readonly SecretField[],
  });
  const save = async () => {
    const title = values.title.trim();
    await client.agents.saveCustom(values.name.trim(), {
      ...(title && { title }),
      command: values.command.split('\n').filter((line) => line.trim() !== ''),
      protocol: values.protocol,
      env: Object.fromEntries(values.env.map(({ name, value }) => [name.trim(), value ?? ''])),
    });
    await onSaved();
  };
  return (
    <Form
      label="New agent"
      className="rounded-md border bg-panel p-3"
      submit="Add"
      onSubmit={save}
      onCancel={onCancel}
    >
      <TextField
        label="Name"
        hint="Lowercase letters, digits and hyphens, for belay run --agent NAME."
        autoFocus
        required
        maxLength={40}
        pattern="[a-z0-9][a-z0-9\-]*"
        title="Lowercase letters, digits and hyphens"
        placeholder="my-agent"
        {...bind('name')}
      />
      <TextField label="Title" maxLength={60} placeholder="My agent" {...bind('title')} />
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
        Programs in the sandbox can read these variables. It needs no API key: Belay gives it an
        address and a token for the model of the session.
      </p>
    </Form>
  );
}
