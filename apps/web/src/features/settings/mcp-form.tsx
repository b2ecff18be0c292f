import type { McpServer } from '@belay/protocol';
import { ChoiceField } from '@/components/ui/choice';
import { Field, optionsOf, TextArea, TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { client } from '@/lib/server';
import { useForm, type FormState } from '@/lib/use-form';
import { mcpFieldsOf, newMcpFields, transportOf, type McpFields } from './mcp-fields';
import { SecretRows } from './secret-rows';

const kinds = optionsOf({ http: 'At a URL', stdio: 'A program on the server' });
const places = optionsOf({ container: 'In a container', host: 'On this machine' });

interface McpFormProps {
  /** Null for a new server. */
  server: McpServer | null;
  onSaved(server: McpServer): void;
  onCancel(): void;
}

/** How to connect to an MCP server. Saving connects at once, so that errors show immediately. */
export function McpForm({ server, onSaved, onCancel }: McpFormProps) {
  const form = useForm(server ? mcpFieldsOf(server) : newMcpFields);
  const save = async () => {
    const transport = transportOf(form.values);
    const saved = server
      ? await client.mcp.change(server.name, { transport })
      : await client.mcp.create({ name: form.values.name.trim(), transport });
    onSaved(saved);
  };
  return (
    <Form
      label={server ? `Edit ${server.name}` : 'New MCP server'}
      className="rounded-md border bg-panel p-3"
      submit="Save and connect"
      submitting="Connecting…"
      onSubmit={save}
      onCancel={onCancel}
    >
      {server ? (
        <h2 className="font-medium">{server.name}</h2>
      ) : (
        <TextField
          label="Name"
          hint="Lowercase letters, digits and -; part of its tools’ names."
          autoFocus
          required
          maxLength={24}
          pattern="[a-z0-9][a-z0-9\-]*"
          title="Lowercase letters, digits and hyphens"
          placeholder="github"
          {...form.bind('name')}
        />
      )}
      <ChoiceField label="Connection" options={kinds} {...form.bind('type')} />
      {form.values.type === 'http' ? <HttpFields form={form} /> : <StdioFields form={form} />}
    </Form>
  );
}

interface FieldsProps {
  form: FormState<McpFields>;
}

const HttpFields = ({ form: { bind } }: FieldsProps) => (
  <>
    <TextField
      label="URL"
      hint="Its streamable HTTP endpoint. Put secrets in headers: the URL is visible."
      type="url"
      required
      placeholder="https://mcp.example.com/mcp"
      {...bind('url')}
    />
    <SecretRows title="Headers" what="header" {...bind('headers')} />
  </>
);

function StdioFields({ form }: FieldsProps) {
  const { values, change, bind } = form;
  return (
    <>
      <ChoiceField label="Where it runs" options={places} {...bind('where')} />
      {values.where === 'host' ? (
        <p className="rounded-md bg-amber-soft px-3 py-2 text-sm">
          It runs on the server’s host, as the user that runs Belay and outside any sandbox: it can
          read and change what that user can. Connect only programs that you trust.
        </p>
      ) : (
        <ContainerFields form={form} />
      )}
      <TextField
        label="Command"
        required
        className="font-mono text-xs"
        placeholder="npx"
        {...bind('command')}
      />
      <Field label="Arguments" hint="One per line.">
        <TextArea
          className="font-mono text-xs"
          placeholder={'-y\n@modelcontextprotocol/server-everything'}
          value={values.args}
          onChange={({ target }) => change({ args: target.value })}
        />
      </Field>
      <SecretRows title="Environment variables" what="variable" {...bind('env')} />
    </>
  );
}

const ContainerFields = ({ form: { bind } }: FieldsProps) => (
  <>
    <p className="rounded-md bg-sunken px-3 py-2 text-sm">
      It can reach only the hosts and see only the folder given below. npx and uvx need the hosts of
      their registries.
    </p>
    <TextField
      label="Image"
      hint="It must contain the program. Leave empty for the sandbox image."
      className="font-mono text-xs"
      placeholder="mcp/time"
      {...bind('image')}
    />
    <TextField
      label="Folder"
      hint="The folder of this machine that contains the program; it is read-only."
      className="font-mono text-xs"
      pattern="/.*"
      title="The absolute path of a folder."
      placeholder="/home/me/my-server"
      {...bind('folder')}
    />
    <TextField
      label="Hosts"
      hint="Hosts that it can reach through the sandbox proxy. Leave empty for none."
      className="font-mono text-xs"
      placeholder="api.example.com registry.npmjs.org"
      {...bind('hosts')}
    />
  </>
);
