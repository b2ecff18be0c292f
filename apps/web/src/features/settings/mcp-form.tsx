import { useState } from 'react';
import type { McpServer } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Choice } from '@/components/ui/choice';
import { Field, Input } from '@/components/ui/field';
import { client } from '@/lib/server';
import { useSubmit } from '@/lib/use-submit';
import { fieldsOf, serverOf, transportOf, type McpFields } from './mcp-fields';
import { SecretRows } from './secret-rows';

const kinds = [
  { value: 'http', label: 'At a URL' },
  { value: 'stdio', label: 'A program on the server' },
] as const;

const places = [
  { value: 'container', label: 'In a container' },
  { value: 'host', label: 'On this machine' },
] as const;

interface McpFormProps {
  /** Null for a new one. */
  server: McpServer | null;
  onSaved(server: McpServer): void;
  onCancel(): void;
}

/** How an MCP server is reached. Saving connects it, so that it shows at once whether it works. */
export function McpForm({ server, onSaved, onCancel }: McpFormProps) {
  const [fields, setFields] = useState(() => fieldsOf(server));
  const change = (part: Partial<McpFields>) => setFields((now) => ({ ...now, ...part }));
  const { saving, onSubmit } = useSubmit(async () =>
    onSaved(
      server
        ? await client.mcp.change(server.name, { transport: transportOf(fields) })
        : await client.mcp.create(serverOf(fields)),
    ),
  );
  return (
    <form
      className="space-y-3 rounded-md border bg-panel p-3"
      aria-label={server ? `Edit ${server.name}` : 'New MCP server'}
      onSubmit={onSubmit}
    >
      {server && <h2 className="font-medium">{server.name}</h2>}
      {!server && (
        <Field label="Name" hint="Lowercase letters, digits and -; part of its tools’ names.">
          <Input
            autoFocus
            required
            maxLength={24}
            pattern="[a-z0-9][a-z0-9\-]*"
            value={fields.name}
            placeholder="github"
            onChange={({ target }) => change({ name: target.value })}
          />
        </Field>
      )}
      <Choice
        label="Connection"
        value={fields.type}
        options={kinds}
        onChange={(type) => change({ type })}
      />
      {fields.type === 'http' ? (
        <HttpFields fields={fields} onChange={change} />
      ) : (
        <StdioFields fields={fields} onChange={change} />
      )}
      <div className="flex gap-2">
        <Button type="submit" small look="solid" disabled={saving}>
          {saving ? 'Connecting…' : 'Save and connect'}
        </Button>
        <Button small look="ghost" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

interface FieldsProps {
  fields: McpFields;
  onChange(part: Partial<McpFields>): void;
}

function HttpFields({ fields, onChange }: FieldsProps) {
  return (
    <>
      <Field
        label="URL"
        hint="Its streamable HTTP endpoint. Put secrets in headers: the URL is visible."
      >
        <Input
          type="url"
          required
          value={fields.url}
          placeholder="https://mcp.example.com/mcp"
          onChange={({ target }) => onChange({ url: target.value })}
        />
      </Field>
      <fieldset>
        <legend className="mb-1 text-sm font-medium">Headers</legend>
        <SecretRows
          what="header"
          secrets={fields.headers}
          onChange={(headers) => onChange({ headers })}
        />
      </fieldset>
    </>
  );
}

function StdioFields({ fields, onChange }: FieldsProps) {
  return (
    <>
      <Choice
        label="Where it runs"
        value={fields.where}
        options={places}
        onChange={(where) => onChange({ where })}
      />
      {fields.where === 'host' ? (
        <p className="rounded-md bg-amber-soft px-3 py-2 text-sm">
          It runs on the server’s host, as the user that runs Belay and outside of every sandbox: it
          can read and change what that user can. Connect only programs that you trust.
        </p>
      ) : (
        <ContainerFields fields={fields} onChange={onChange} />
      )}
      <Field label="Command">
        <Input
          required
          className="font-mono text-xs"
          value={fields.command}
          placeholder="npx"
          onChange={({ target }) => onChange({ command: target.value })}
        />
      </Field>
      <Field label="Arguments" hint="One per line.">
        <textarea
          rows={3}
          className="w-full rounded-md border border-line-strong bg-panel px-2 py-1 font-mono text-xs"
          value={fields.args}
          placeholder={'-y\n@modelcontextprotocol/server-everything'}
          onChange={({ target }) => onChange({ args: target.value })}
        />
      </Field>
      <fieldset>
        <legend className="mb-1 text-sm font-medium">Environment variables</legend>
        <SecretRows what="variable" secrets={fields.env} onChange={(env) => onChange({ env })} />
      </fieldset>
    </>
  );
}

function ContainerFields({ fields, onChange }: FieldsProps) {
  return (
    <>
      <p className="rounded-md bg-sunken px-3 py-2 text-sm">
        It reaches only the hosts and sees only the folder given below. What npx or uvx downloads
        needs the hosts of its registry.
      </p>
      <Field label="Image" hint="It must contain the program. Leave empty for the sandbox image.">
        <Input
          className="font-mono text-xs"
          value={fields.image}
          placeholder="mcp/time"
          onChange={({ target }) => onChange({ image: target.value })}
        />
      </Field>
      <Field
        label="Folder"
        hint="The folder of this machine that contains the program; it is read-only."
      >
        <Input
          className="font-mono text-xs"
          pattern="/.*"
          title="The absolute path of a folder."
          value={fields.folder}
          placeholder="/home/me/my-server"
          onChange={({ target }) => onChange({ folder: target.value })}
        />
      </Field>
      <Field
        label="Hosts"
        hint="Hosts that it can reach, through the proxy of sandboxes. Leave empty for none."
      >
        <Input
          className="font-mono text-xs"
          value={fields.hosts}
          placeholder="api.example.com registry.npmjs.org"
          onChange={({ target }) => onChange({ hosts: target.value })}
        />
      </Field>
    </>
  );
}
