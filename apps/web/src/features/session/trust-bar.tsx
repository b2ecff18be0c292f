import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isEnded } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Dialog } from '@/components/ui/dialog';
import { Failed, Loading } from '@/components/ui/empty';
import { VisibleText } from '@/components/ui/visible-text';
import { filesQuery } from '@/features/session-files/files-query';
import { useIsPast, useLog, useSessionId } from '@/features/session-log/session-context';
import { useSessionState, useSummary } from '@/lib/summaries';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

const guiding = /(^|\/)(AGENTS\.md|SKILL\.md)$/;

/** Asks the user to review and trust guidance in the workspace, which is ignored until then. */
export function TrustBar() {
  const session = useSessionId();
  const [open, setOpen] = useState(false);
  const { hasTrusted, found, hasServers } = useUntrusted(session);
  if (!found.length) return hasServers && !hasTrusted ? <OwnMcpServers /> : null;
  return (
    <div className="flex shrink-0 items-center gap-3 border-t bg-amber-soft px-4 py-1.5 text-sm">
      <p className="line-clamp-2 min-w-0 flex-1">
        This workspace has {hasTrusted ? 'new' : 'its own'} guidance (
        <VisibleText text={found.join(', ')} />
        ). The agent does not follow it until you trust it.
        {hasServers && ' Its .mcp.json is not used.'}
      </p>
      <Button small onClick={() => setOpen(true)}>
        Review…
      </Button>
      {open && <TrustDialog session={session} onClose={() => setOpen(false)} />}
    </div>
  );
}

/** Guidance the user has not trusted yet; `found` is empty when there is no need to ask. */
function useUntrusted(session: string) {
  const trusted = useLog((log) => log.view.trusted);
  const commit = useLog((log) => log.view.lastCommit?.args.commit ?? '');
  const isOther = useIsOther(session);
  const asks = useAsks(session, isOther);
  const enabled = asks && commit !== '';
  const files = useQuery({ ...filesQuery(session, commit), enabled });
  const paths = asks ? (files.data?.entries.map(({ path }) => path) ?? []) : [];
  // Only the sandbox knows what the program of another agent reads.
  const read = useQuery({ ...trustQuery(session, commit), enabled: enabled && isOther });
  const known = isOther && asks ? (read.data?.files.map(({ path }) => path) ?? []) : paths;
  const guides = isOther ? known : known.filter((path) => guiding.test(path));
  return {
    hasTrusted: trusted.size > 0,
    found: guides.filter((path) => !trusted.has(path)),
    hasServers: paths.includes('.mcp.json'),
  };
}

/** Whether an agent of another vendor works on the session. */
const useIsOther = (session: string): boolean => !!useSummary(session)?.agent;

/** Trust given at the start covers all guidance; trust given here covers only the reviewed files. */
function useAsks(session: string, isOther: boolean): boolean {
  const readOnly = useReadOnly();
  const state = useSessionState(session);
  const past = useIsPast();
  const isCovered = useLog(
    ({ view }) =>
      (view.guidance !== undefined || (isOther && view.isTrusted === true)) &&
      view.trusted.size === 0,
  );
  const isAtWork = state !== undefined && state !== 'starting' && !isEnded(state);
  return !isCovered && !past && !readOnly && isAtWork;
}

const trustQuery = (session: string, commit: string) => ({
  queryKey: ['trust', session, commit],
  queryFn: () => client.sessions.call(session, 'workspace.trust', { preview: true }),
});

/**
 * Explains that the workspace’s MCP servers are not used: they would run with the server’s rights,
 * so only the user may add one.
 */
function OwnMcpServers() {
  const [seen, setSeen] = useState(false);
  if (seen) return null;
  return (
    <div className="flex shrink-0 items-center gap-3 border-t bg-amber-soft px-4 py-1.5 text-sm">
      <p className="line-clamp-2 min-w-0 flex-1">
        This workspace names MCP servers in .mcp.json. They are not used. Add the ones you want in{' '}
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
  const preview = useQuery({ ...trustQuery(session, 'now'), staleTime: 0 });
  const isOther = useIsOther(session);
  const trust = () => {
    onClose();
    // Trusts only the versions that were shown, not later changes.
    const shown = preview.data?.files.flatMap(({ path, hash }) => (hash ? { path, hash } : []));
    const read = shown ? { shown } : {};
    attempt(() => client.sessions.call(session, 'workspace.trust', read), 'Trusted.');
  };
  return (
    <Dialog wide title="Workspace guidance" onClose={onClose}>
      {preview.isPending && <Loading what="the guidance" />}
      {preview.isError && <Failed error={preview.error} />}
      {isOther && (
        <p className="mb-3 text-sm text-muted">
          Once you trust these files, the agent reads them by itself, and later versions of them,
          too.
        </p>
      )}
      {preview.data?.files.map(({ path, text, executable }) => (
        <div key={path} className="mb-3">
          <p className="mb-1 font-mono text-xs text-muted">
            <VisibleText text={path} />
            {executable && <span className="font-sans"> · executable</span>}
          </p>
          <pre
            tabIndex={0}
            className="max-h-72 overflow-auto rounded-md border bg-sunken p-2 text-xs whitespace-pre-wrap"
          >
            <VisibleText text={text} />
          </pre>
        </div>
      ))}
      {preview.data && (
        <Button look="solid" onClick={trust}>
          Trust
        </Button>
      )}
    </Dialog>
  );
}
