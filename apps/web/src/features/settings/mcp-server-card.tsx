import { useState } from 'react';
import type { McpServer, McpServerChange } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Switch } from '@/components/ui/switch';
import { askConfirm } from '@/lib/ask';
import { plural } from '@/lib/format';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt, say, sayError } from '@/lib/toasts';
import { McpForm } from './mcp-form';
import { McpTools } from './mcp-tools';

interface McpServerCardProps {
  server: McpServer;
  onChange(server: McpServer | null): void;
}

/** One MCP server: whether it is there, what it has, and what can be done about it. */
export function McpServerCard({ server, onChange }: McpServerCardProps) {
  const readOnly = useReadOnly();
  const [editing, setEditing] = useState(false);
  const [busy, setBusy] = useState(false);
  const { name, transport } = server;
  const work = async (run: () => Promise<McpServer>): Promise<McpServer | undefined> => {
    setBusy(true);
    try {
      const next = await run();
      onChange(next);
      return next;
    } catch (error) {
      sayError(error);
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  const change = (part: McpServerChange) => void work(() => client.mcp.change(name, part));
  const test = async () => {
    const next = await work(() => client.mcp.test(name));
    if (next?.state === 'connected') say(`${name} has ${plural(next.offered.length, 'tool')}.`);
  };
  const remove = async () => {
    const text = 'Its secrets are deleted; calls of its tools fail from now on.';
    if (!(await askConfirm({ title: `Remove ${name}?`, text, verb: 'Remove', danger: true })))
      return;
    attempt(async () => {
      await client.mcp.remove(name);
      onChange(null);
    });
  };
  if (editing)
    return (
      <McpForm
        server={server}
        onCancel={() => setEditing(false)}
        onSaved={(saved) => {
          setEditing(false);
          onChange(saved);
        }}
      />
    );
  return (
    <section aria-label={name} className="space-y-2 rounded-md border bg-panel p-3">
      <div className="flex items-center justify-between gap-3">
        <h2 className="min-w-0 truncate font-medium">{name}</h2>
        <span className="flex shrink-0 items-center gap-3">
          <State server={server} busy={busy} />
          <Switch
            label={`Use ${name}`}
            on={server.enabled}
            disabled={readOnly || busy}
            onChange={(enabled) => change({ enabled })}
          />
        </span>
      </div>
      <p className="font-mono text-xs break-all text-faint">
        {transport.type === 'http'
          ? transport.url
          : [transport.command, ...transport.args].join(' ')}
      </p>
      {server.error && <p className="text-sm break-words text-fail">{server.error}</p>}
      {server.offered.length > 0 && (
        <McpTools server={server} disabled={readOnly || busy} onChange={change} />
      )}
      {!readOnly && (
        <div className="flex flex-wrap gap-2">
          {server.enabled && (
            <Button small disabled={busy} onClick={() => void test()} aria-label={`Test ${name}`}>
              {busy ? 'Connecting…' : 'Test'}
            </Button>
          )}
          <Button small onClick={() => setEditing(true)} aria-label={`Edit ${name}`}>
            Edit
          </Button>
          <Button small look="danger" onClick={() => void remove()} aria-label={`Remove ${name}`}>
            Remove
          </Button>
        </div>
      )}
    </section>
  );
}

const looks = {
  off: 'text-muted',
  connecting: 'text-run',
  connected: 'text-pass',
  failed: 'text-fail',
};

function State({ server: { state, offered, tools }, busy }: { server: McpServer; busy: boolean }) {
  const shown = busy ? 'connecting' : state;
  const used = tools ? offered.filter(({ name }) => tools.includes(name)).length : offered.length;
  const words = {
    off: 'off',
    connecting: 'connecting…',
    connected: `connected, ${plural(used, 'tool')} in use`,
    failed: 'not connected',
  };
  return <span className={`text-sm ${looks[shown]}`}>{words[shown]}</span>;
}
