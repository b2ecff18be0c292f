import { useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { GitHost } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { attemptConfirmed } from '@/lib/ask';
import { gitHostsQuery } from '@/lib/queries';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { GitHostForm, gitHostKinds } from './git-host-form';

/** Hosts that the server clones from and pushes to, with tokens that no sandbox sees. */
export function GitHostSettings() {
  const readOnly = useReadOnlySettings();
  const hosts = useQuery(gitHostsQuery);
  const [adding, setAdding] = useState(false);
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">
        The server clones repositories and pushes changes; a sandbox never holds a token. Public
        repositories can be cloned without one.
      </p>
      <QueryState query={hosts} what="the git hosts" />
      {hosts.data?.length === 0 && !adding && (
        <Empty title="No git hosts">Add one to clone private repositories and to push.</Empty>
      )}
      {hosts.data?.map((host) => (
        <HostCard key={host.host} host={host} readOnly={readOnly} />
      ))}
      {adding ? (
        <section aria-label="New git host" className="rounded-md border bg-panel p-3">
          <GitHostForm onClose={() => setAdding(false)} />
        </section>
      ) : (
        !readOnly && <Button onClick={() => setAdding(true)}>Add a git host</Button>
      )}
    </div>
  );
}

function HostCard({ host, readOnly }: { host: GitHost; readOnly: boolean }) {
  const [open, setOpen] = useState(false);
  const queries = useQueryClient();
  const remove = () =>
    attemptConfirmed(
      {
        title: `Remove ${host.host}?`,
        text: 'Its token is deleted too. Sessions can no longer be published there.',
        verb: 'Remove',
        danger: true,
      },
      async () => {
        await client.git.removeHost(host.host);
        await queries.invalidateQueries(gitHostsQuery);
      },
    );
  return (
    <section aria-label={host.host} className="rounded-md border bg-panel p-3">
      <div className="flex items-center justify-between gap-3">
        <div className="min-w-0">
          <h2 className="truncate font-medium">{host.host}</h2>
          <p className="text-sm text-muted">
            {gitHostKinds[host.kind]}
            {' · '}
            <span className={host.token ? 'text-pass' : undefined}>
              {host.token ? 'a token is saved' : 'no token'}
            </span>
            {host.token && host.scope === 'admin' && ' for admins'}
            {host.private && ' · private network'}
            {host.insecure && <span className="text-fail"> · without TLS</span>}
          </p>
        </div>
        {!open && !readOnly && (
          <div className="flex gap-2">
            <Button small aria-label={`Change ${host.host}`} onClick={() => setOpen(true)}>
              Change
            </Button>
            <Button small look="danger" aria-label={`Remove ${host.host}`} onClick={remove}>
              Remove
            </Button>
          </div>
        )}
      </div>
      {open && (
        <div className="mt-3">
          <GitHostForm host={host} onClose={() => setOpen(false)} />
        </div>
      )}
    </section>
  );
}
