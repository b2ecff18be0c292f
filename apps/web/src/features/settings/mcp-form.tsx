import { useState } from 'react';
import type { McpServer } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Choice } from '@/components/ui/choice';
import { Field, Input } from '@/components/ui/field';
import { client } from '@/lib/server';
import { sayError } from '@/lib/toasts';
import { draftOf, serverOf, transportOf, type McpDraft } from './mcp-draft';
import { SecretRows } from './secret-rows';

const kinds = [
  { value: 'http', label: 'At an address' },
  { value: 'stdio', label: 'A program on the server' },
] as const;

interface McpFormProps {
  /** Null for a new one. */
  server: McpServer | null;
  onSaved(server: McpServer): void;
  onCancel(): void;
}

/** How an MCP server is reached. Saving connects it, so that it shows at once whether it works. */
export function McpForm({ server, onSaved, onCancel }: McpFormProps) {
  const [draft, setDraft] = useState(() => draftOf(server));
  const [saving, setSaving] = useState(false);
  const change = (part: Partial<McpDraft>) => setDraft((now) => ({ ...now, ...part }));
  const save = async () => {
    setSaving(true);
    try {
      onSaved(
        server
          ? await client.mcp.change(server.name, { transport: transportOf(draft) })
          : await client.mcp.create(serverOf(draft)),
      );
    } catch (error) {
      sayError(error);
      setSaving(false);
    }
  };
  return (
    <form
      className="space-y-3 rounded-md border bg-panel p-3"
      aria-label={server ? `Edit ${server.name}` : 'New MCP server'}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {server && <h2 className="font-medium">{server.name}</h2>}
      {!server && (
        <Field label="Name" hint="Small letters, digits and -; part of the names of its tools.">
          <Input
            autoFocus
            required
            maxLength={24}
            pattern="[a-z0-9][a-z0-9\-]*"
            value={draft.name}
            placeholder="github"
            onChange={({ target }) => change({ name: target.value })}
          />
        </Field>
      )}
      <Choice
        label="How it is reached"
        value={draft.type}
        options={kinds}
        onChange={(type) => change({ type })}
      />
      {draft.type === 'http' ? (
        <HttpFields draft={draft} onChange={change} />
      ) : (
        <StdioFields draft={draft} onChange={change} />
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
  draft: McpDraft;
  onChange(part: Partial<McpDraft>): void;
}

function HttpFields({ draft, onChange }: FieldsProps) {
  return (
    <>
      <Field
        label="Address"
        hint="Of its streamable HTTP endpoint. Secrets belong in headers: the address is shown."
      >
        <Input
          type="url"
          required
          value={draft.url}
          placeholder="https://mcp.example.com/mcp"
          onChange={({ target }) => onChange({ url: target.value })}
        />
      </Field>
      <fieldset>
        <legend className="mb-1 text-sm font-medium">Headers</legend>
        <SecretRows
          what="header"
          secrets={draft.headers}
          onChange={(headers) => onChange({ headers })}
        />
      </fieldset>
    </>
  );
}

function StdioFields({ draft, onChange }: FieldsProps) {
  return (
    <>
      <p className="rounded-md bg-amber-soft px-3 py-2 text-sm">
        It runs on the server’s host, as the user that runs Belay and outside of every sandbox: it
        can read and change what that user can. Connect only programs that you trust.
      </p>
      <Field label="Command">
        <Input
          required
          className="font-mono text-xs"
          value={draft.command}
          placeholder="npx"
          onChange={({ target }) => onChange({ command: target.value })}
        />
      </Field>
      <Field label="Arguments" hint="One in each line.">
        <textarea
          rows={3}
          className="w-full rounded-md border border-line-strong bg-panel px-2 py-1 font-mono text-xs"
          value={draft.args}
          placeholder={'-y\n@modelcontextprotocol/server-everything'}
          onChange={({ target }) => onChange({ args: target.value })}
        />
      </Field>
      <fieldset>
        <legend className="mb-1 text-sm font-medium">Variables of its environment</legend>
        <SecretRows what="variable" secrets={draft.env} onChange={(env) => onChange({ env })} />
      </fieldset>
    </>
  );
}
