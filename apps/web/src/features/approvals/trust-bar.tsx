import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isEnded, type OperationOutput, type workspaceOperations } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Dialog } from '@/components/ui/dialog';
import { Failed, Loading } from '@/components/ui/empty';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { useReadOnly } from '@/lib/role';
import { filesQuery } from '../code/files-query';
import { useSessionState } from '../sessions/queries';
import { useIsPast, useLog, useSessionId } from '../sessions/session-context';

type Guidance = OperationOutput<(typeof workspaceOperations)['workspace.trust']>;

const guiding = /(^|\/)(AGENTS\.md|SKILL\.md)$/;

/** A workspace's own guidance counts only after a person has read and trusted it. */
export function TrustBar() {
  const readOnly = useReadOnly();
  const session = useSessionId();
  const state = useSessionState(session);
  const past = useIsPast();
  const trusted = useLog((log) => log.view.guidance !== null);
  const commit = useLog((log) => log.view.lastCommit?.args.commit ?? '');
  const [open, setOpen] = useState(false);
  const asks = !trusted && !past && !readOnly && state !== undefined && !isEnded(state);
  const files = useQuery({ ...filesQuery(session, commit), enabled: asks && commit !== '' });
  const paths = files.data?.entries.map(({ path }) => path) ?? [];
  const found = paths.filter((path) => guiding.test(path));
  if (!asks) return null;
  if (!found.length) return paths.includes('.mcp.json') ? <OwnMcpServers /> : null;
  return (
    <div className="flex shrink-0 items-center gap-3 border-t bg-amber-soft px-4 py-1.5 text-sm">
      <p className="line-clamp-2 min-w-0 flex-1">
        This workspace has guidance of its own ({found.join(', ')}). The agent does not follow it
        until you trust it.{paths.includes('.mcp.json') && ' Its .mcp.json is not used.'}
      </p>
      <Button small onClick={() => setOpen(true)}>
        Read it…
      </Button>
      {open && <TrustDialog session={session} onClose={() => setOpen(false)} />}
    </div>
  );
}

/** MCP servers that a repository names would run with the server's rights: nobody but a person adds one. */
function OwnMcpServers() {
  const [seen, setSeen] = useState(false);
  if (seen) return null;
  return (
    <div className="flex shrink-0 items-center gap-3 border-t bg-amber-soft px-4 py-1.5 text-sm">
      <p className="line-clamp-2 min-w-0 flex-1">
        This workspace names MCP servers in .mcp.json. They are not used; add those that you want in{' '}
        <Link to="/settings" search={{ section: 'mcp' }} className="underline">
          the settings
        </Link>
        .
      </p>
      <Button small onClick={() => setSeen(true)}>
        Hide
      </Button>
    </div>
  );
}

function TrustDialog({ session, onClose }: { session: string; onClose(): void }) {
  const preview = useQuery({
    queryKey: ['trust', session],
    queryFn: async () =>
      (await client.sessions.call(session, 'workspace.trust', { preview: true })) as Guidance,
    staleTime: 0,
  });
  const trust = () => {
    onClose();
    attempt(() => client.sessions.call(session, 'workspace.trust', {}), 'Trusted.');
  };
  return (
    <Dialog open wide title="Guidance of this workspace" onClose={onClose}>
      {preview.isPending && <Loading what="the guidance" />}
      {preview.isError && <Failed error={preview.error} />}
      {preview.data?.files.map(({ path, text }) => (
        <div key={path} className="mb-3">
          <p className="mb-1 font-mono text-xs text-muted">{path}</p>
          <pre
            tabIndex={0}
            className="max-h-72 overflow-auto rounded-md border bg-sunken p-2 text-xs whitespace-pre-wrap"
          >
            {text}
          </pre>
        </div>
      ))}
      {preview.data && (
        <Button look="solid" onClick={trust}>
          Trust it
        </Button>
      )}
    </Dialog>
  );
}
