import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { InstalledAction } from '@belay/protocol';
import { Page } from '@/components/page';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { SearchField } from '@/components/ui/search-field';
import { actionsQuery } from '@/lib/queries';
import { useReadOnlySettings } from '@/lib/role';
import { ActionState } from './action-state';
import { InstallForm } from './install-form';
import { KindLabel } from './kind-label';

/** The installed actions, with a form to install more. */
export function ActionsPage() {
  const readOnly = useReadOnlySettings();
  const actions = useQuery(actionsQuery);
  const [search, setSearch] = useState<string>();
  const [installing, setInstalling] = useState(false);
  const shown = (actions.data ?? []).filter((action) => matches(action, search));
  return (
    <Page title="Actions · Belay" className="overflow-y-auto">
      <div className="mx-auto max-w-3xl space-y-4 p-6 max-sm:p-4">
        <div className="flex items-center justify-between gap-3">
          <h1 className="text-xl font-semibold">Actions</h1>
          {!readOnly && !installing && (
            <Button onClick={() => setInstalling(true)}>Install action</Button>
          )}
        </div>
        <p className="text-sm text-muted">
          An action gives agents a new ability. It comes from a git repository and runs in a
          container of its own, with only the hosts, secrets and files that it declares. Skills and
          MCP servers are installed the same way.
        </p>
        {installing && <InstallForm onClose={() => setInstalling(false)} />}
        {(actions.data?.length ?? 0) > 0 && (
          <SearchField
            label="Search actions"
            placeholder="Search actions"
            value={search}
            onChange={setSearch}
          />
        )}
        <QueryState query={actions} what="the actions" />
        {actions.data?.length === 0 && !installing && (
          <Empty title="No actions">
            Install one from a git repository or from the examples that come with Belay, or create
            your first one with <code>belay actions new</code>.
          </Empty>
        )}
        {actions.data !== undefined && actions.data.length > 0 && shown.length === 0 && (
          <Empty title="No matches" />
        )}
        {shown.length > 0 && (
          <ul aria-label="Installed actions" className="divide-y rounded-md border bg-panel">
            {shown.map((action) => (
              <Row key={action.name} action={action} />
            ))}
          </ul>
        )}
      </div>
    </Page>
  );
}

function Row({ action }: { action: InstalledAction }) {
  const { name, kind, manifest } = action;
  return (
    <li>
      <Link
        to="/actions/$name"
        params={{ name }}
        className="flex items-center justify-between gap-4 px-4 py-3 hover:bg-hover"
      >
        <span className="min-w-0">
          <span className="block truncate font-medium">
            {manifest.name_for_human}
            <KindLabel kind={kind} />
          </span>
          <span className="block truncate text-sm text-muted">
            {manifest.description_for_human}
          </span>
        </span>
        <ActionState action={action} />
      </Link>
    </li>
  );
}

function matches({ name, manifest }: InstalledAction, search = ''): boolean {
  const text = `${name} ${manifest.name_for_human} ${manifest.description_for_human}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
