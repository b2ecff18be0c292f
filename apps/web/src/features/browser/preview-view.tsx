import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { ExternalLink, RotateCw } from 'lucide-react';
import { isEnded, previewPath } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty, Failed, Loading } from '@/components/ui/empty';
import { Select } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import { useSessionId } from '@/features/session-log/session-context';
import { useSessionState } from '@/lib/summaries';
import { ensureSandbox } from '@/features/session-controls/use-can-act';
import { client } from '@/lib/server';
import { attempt, toast } from '@/lib/toasts';
import { AddressField } from './address-field';
import { usePreviewChoice } from './use-preview-choice';
import { PreviewFrame, previewSizes, type PreviewSize } from './preview-frame';

/** How often the open ports of the sandbox are queried. */
const portsMs = 2_000;

/** Shows pages that a program in the sandbox serves, in a frame in the user’s browser. */
export function PreviewView() {
  const session = useSessionId();
  const state = useSessionState(session);
  const [choice] = usePreviewChoice(session);
  const [reloads, setReloads] = useState(0);
  const found = useQuery({
    queryKey: ['ports', session],
    queryFn: () => client.sessions.call(session, 'system.ports', {}),
    refetchInterval: portsMs,
    retry: 0,
  });
  const ports = found.data?.ports ?? [];
  const port = choice.port ?? ports[0] ?? null;
  const isOpen = port !== null && ports.includes(port);
  const start = () =>
    attempt(async () => {
      await ensureSandbox(session);
      await found.refetch();
    });
  if (found.isPending) return <Loading what="ports" />;
  if (found.isError && state && isEnded(state))
    return (
      <Empty title="The sandbox has ended">
        <p>Start the sandbox and the server in it to see the preview.</p>
        <Button small className="mt-2" onClick={start}>
          Start sandbox
        </Button>
      </Empty>
    );
  // The preview stays while a disconnected agent reconnects.
  if (found.isError && !found.data)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  return (
    <div className="flex h-full flex-col">
      <PreviewBar ports={ports} port={port} onReload={() => setReloads(reloads + 1)} />
      <div className="min-h-0 flex-1">
        {isOpen ? (
          <Opened
            key={`${port} ${choice.path} ${reloads} ${state === 'paused'}`}
            port={port}
            path={choice.path}
            size={choice.size}
          />
        ) : (
          <NotOpen port={port} />
        )}
      </div>
    </div>
  );
}

interface PreviewBarProps {
  ports: readonly number[];
  /** The port that is shown or awaited; null if none was chosen and none is open. */
  port: number | null;
  onReload(): void;
}

function PreviewBar({ ports, port, onReload }: PreviewBarProps) {
  const session = useSessionId();
  const [{ path, size }, choose] = usePreviewChoice(session);
  const disabled = port === null || !ports.includes(port);
  const go = (text: string) => {
    const wanted = pathOf(text);
    if (!previewPath.safeParse(wanted).success)
      return toast('This is not a path. Enter one such as /about?page=2.');
    choose({ path: wanted });
    onReload();
  };
  const openInTab = async () => {
    const { url } = await client.sessions.preview(session, { port: port ?? 0, path });
    window.open(url, '_blank', 'noopener');
  };
  return (
    <div className="flex h-8 shrink-0 items-center gap-1 border-b px-1">
      <IconButton
        label="Reload"
        icon={RotateCw}
        className="size-6"
        disabled={disabled}
        onClick={onReload}
      />
      <Select
        aria-label="Port"
        className="h-6 w-auto font-mono text-xs"
        value={port ?? ''}
        disabled={port === null}
        onChange={(event) => choose({ port: Number(event.target.value), path: '/' })}
      >
        {port === null && <option value="">No port</option>}
        {optionsOf(ports, port).map((each) => (
          <option key={each} value={each}>
            :{each}
          </option>
        ))}
      </Select>
      <AddressField
        key={`${port} ${path}`}
        label="Path"
        address={path}
        disabled={disabled}
        onGo={go}
      />
      <Select
        aria-label="Size"
        className="h-6 w-auto text-xs"
        value={size}
        onChange={(event) => choose({ size: event.target.value as PreviewSize })}
      >
        {Object.entries(previewSizes).map(([name, { label, size: fixed }]) => (
          <option key={name} value={name}>
            {fixed ? `${label}, ${fixed.width} × ${fixed.height}` : label}
          </option>
        ))}
      </Select>
      <IconButton
        label="Open in a new tab"
        icon={ExternalLink}
        className="size-6"
        disabled={disabled}
        onClick={() => attempt(openInTab)}
      />
    </div>
  );
}

function NotOpen({ port }: { port: number | null }) {
  return port === null ? (
    <Empty title="No server is running">
      When a program in the sandbox listens on a port, its pages appear here. Ask the agent to start
      the development server.
    </Empty>
  ) : (
    <Empty title={`Nothing listens on port ${port}`}>
      The preview returns when a program listens there again.
    </Empty>
  );
}

let opening = 0;

/** A ticket is only valid once, so each reload needs a new one. */
function Opened({ port, path, size }: { port: number; path: string; size: PreviewSize }) {
  const session = useSessionId();
  const [key] = useState(() => (opening += 1));
  const opened = useQuery({
    queryKey: ['preview', key],
    queryFn: () => client.sessions.preview(session, { port, path }),
    staleTime: Infinity,
    gcTime: 0,
    retry: 0,
  });
  if (opened.isError) return <Failed error={opened.error} retry={() => void opened.refetch()} />;
  if (!opened.data) return <Loading what="preview" />;
  return <PreviewFrame url={opened.data.url} title={`Preview of port ${port}`} size={size} />;
}

/** The chosen port stays in the list while nothing listens on it. */
const optionsOf = (ports: readonly number[], port: number | null): number[] =>
  [...new Set(port === null ? ports : [...ports, port])].sort((one, other) => one - other);

/** Encodes a typed path, except for what is already encoded. */
const pathOf = (text: string): string =>
  encodeURI(`/${text.trim().replace(/^[/\\]+/, '')}`).replaceAll(/%25([\da-f]{2})/gi, '%$1');
