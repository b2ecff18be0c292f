import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import { pluralText, type McpServer, type McpServerChange } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Switch } from '@/components/ui/switch';
import { askConfirm } from '@/lib/ask';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt, toast, toastError } from '@/lib/toasts';
import { McpForm } from './mcp-form';
import { McpTools } from './mcp-tools';

interface McpServerCardProps {
  server: McpServer;
  onChange(server: McpServer | null): void;
}

/** One MCP server: whether it is there, what it has, and what can be done about it. */
export function McpServerCard({ server, onChange }: McpServerCardProps) {
  const isInstalled = server.installed === true;
  const readOnly = useReadOnlySettings();
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
      toastError(error);
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  const change = (part: McpServerChange) => void work(() => client.mcp.change(name, part));
  const test = async () => {
    const next = await work(() => client.mcp.test(name));
    if (next?.state === 'connected')
      toast(`${name} has ${pluralText(next.offered.length, 'tool')}.`);
  };
  const logIn = () =>
    attempt(async () => {
      const { url } = await client.mcp.login(name);
      window.open(url, '_blank', 'noopener');
      toast(`Log in on the page of ${name}. It connects by itself afterwards.`);
    });
  const remove = async () => {
    const text = 'Its secrets are deleted and calls of its tools will fail.';
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
            disabled={readOnly || busy || isInstalled}
            onChange={(enabled) => change({ enabled })}
          />
        </span>
      </div>
      <p className="font-mono text-xs break-all text-faint">
        {transport.type === 'http'
          ? transport.url
          : [transport.command, ...transport.args].join(' ')}
      </p>
      {transport.type === 'stdio' && (
        <p className="text-xs text-muted">
          {transport.host ? 'Runs on this machine, unconfined.' : 'Runs in a container.'}
          {isInstalled && (
            <>
              {' It is installed as an action: '}
              <Link to="/actions/$name" params={{ name }} className="underline">
                change it there
              </Link>
              .
            </>
          )}
        </p>
      )}
      {server.error && <p className="text-sm break-words text-fail">{server.error}</p>}
      {server.offered.length > 0 && (
        <McpTools server={server} disabled={readOnly || busy || isInstalled} onChange={change} />
      )}
      {!readOnly && (
        <div className="flex flex-wrap gap-2">
          {server.enabled && (
            <Button small disabled={busy} onClick={() => void test()} aria-label={`Test ${name}`}>
              {busy ? 'Connecting…' : 'Test'}
            </Button>
          )}
          {transport.type === 'http' && server.enabled && server.state === 'failed' && (
            <Button small disabled={busy} onClick={logIn} aria-label={`Connect ${name}`}>
              Connect
            </Button>
          )}
          {!isInstalled && (
            <>
              <Button small onClick={() => setEditing(true)} aria-label={`Edit ${name}`}>
                Edit
              </Button>
              <Button
                small
                look="danger"
                onClick={() => void remove()}
                aria-label={`Remove ${name}`}
              >
                Remove
              </Button>
            </>
          )}
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
    connected: `connected, ${pluralText(used, 'tool')} in use`,
    failed: 'not connected',
  };
  return <span className={`text-sm ${looks[shown]}`}>{words[shown]}</span>;
}
