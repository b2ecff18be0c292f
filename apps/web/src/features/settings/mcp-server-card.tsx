import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import { pluralText, type McpServer, type McpServerChange } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Switch } from '@/components/ui/switch';
import { attemptConfirmed } from '@/lib/ask';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt, toast } from '@/lib/toasts';
import { useBusy } from '@/lib/use-busy';
import { McpForm } from './mcp-form';
import { McpTools } from './mcp-tools';

interface McpServerCardProps {
  server: McpServer;
  onChange(server: McpServer | null): void;
}

/** One MCP server with its state, tools and actions. */
export function McpServerCard({ server, onChange }: McpServerCardProps) {
  const { name, transport, error, offered } = server;
  const isInstalled = server.installed === true;
  const readOnly = useReadOnlySettings();
  const [editing, setEditing] = useState(false);
  const { busy, run } = useBusy();
  const disabled = readOnly || busy || isInstalled;
  const change = (part: McpServerChange) =>
    run(async () => onChange(await client.mcp.change(name, part)));
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
            disabled={disabled}
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
      {error && <p className="text-sm break-words text-fail">{error}</p>}
      {offered.length > 0 && <McpTools server={server} disabled={disabled} onChange={change} />}
      {!readOnly && (
        <div className="flex flex-wrap gap-2">
          {server.enabled && (
            <ConnectButtons server={server} work={{ busy, run }} onChange={onChange} />
          )}
          {!isInstalled && (
            <>
              <Button small onClick={() => setEditing(true)} aria-label={`Edit ${name}`}>
                Edit
              </Button>
              <Button
                small
                look="danger"
                onClick={() => remove(name, onChange)}
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

interface ConnectButtonsProps extends McpServerCardProps {
  work: ReturnType<typeof useBusy>;
}

/** Retries the connection. An HTTP server that failed may need the user to log in. */
function ConnectButtons({ server, work: { busy, run }, onChange }: ConnectButtonsProps) {
  const { name, transport, state } = server;
  const test = async () => {
    const next = await client.mcp.test(name);
    onChange(next);
    if (next.state === 'connected')
      toast(`${name} has ${pluralText(next.offered.length, 'tool')}.`);
  };
  const logIn = async () => {
    const { url } = await client.mcp.login(name);
    window.open(url, '_blank', 'noopener');
    toast(`Log in on the page of ${name}. It connects by itself afterwards.`);
  };
  return (
    <>
      <Button small disabled={busy} onClick={() => run(test)} aria-label={`Test ${name}`}>
        {busy ? 'Connecting…' : 'Test'}
      </Button>
      {transport.type === 'http' && state === 'failed' && (
        <Button small disabled={busy} onClick={() => attempt(logIn)} aria-label={`Connect ${name}`}>
          Connect
        </Button>
      )}
    </>
  );
}

const remove = (name: string, onChange: McpServerCardProps['onChange']) =>
  attemptConfirmed(
    {
      title: `Remove ${name}?`,
      text: 'Its secrets are deleted, and calls to its tools will fail.',
      verb: 'Remove',
      danger: true,
    },
    async () => {
      await client.mcp.remove(name);
      onChange(null);
    },
  );

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
