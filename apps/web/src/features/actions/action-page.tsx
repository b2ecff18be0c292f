import { useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { permissionSentences, type FoundActions, type InstalledAction } from '@belay/protocol';
import { NoPage } from '@/components/no-page';
import { Page } from '@/components/page';
import { BackLink } from '@/components/ui/back-link';
import { Button } from '@/components/ui/button';
import { QueryState } from '@/components/ui/query-state';
import { Markdown } from '@/components/ui/markdown';
import { Switch } from '@/components/ui/switch';
import { attemptConfirmed } from '@/lib/ask';
import { actionsQuery } from '@/lib/queries';
import { useReadOnly, useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt, toast } from '@/lib/toasts';
import { useBusy } from '@/lib/use-busy';
import { ActionExamples } from './action-examples';
import { ActionForm } from './action-form';
import { ActionSecrets } from './action-secrets';
import { InstallForm } from './install-form';
import { KindLabel } from './kind-label';

const route = getRouteApi('/actions/$name');

export function ActionPage() {
  const { name } = route.useParams();
  const actions = useQuery(actionsQuery);
  const action = actions.data?.find((one) => one.name === name);
  if (actions.data && !action) return <NoPage title={`No action named ${name}`} />;
  return (
    <Page title={`${action?.manifest.name_for_human ?? name} · Belay`} className="overflow-y-auto">
      <div className="mx-auto max-w-3xl space-y-6 p-6 max-sm:p-4">
        <BackLink to="/actions">All actions</BackLink>
        <QueryState query={actions} what="the action" />
        {action && <Action key={action.name} action={action} />}
      </div>
    </Page>
  );
}

function Action({ action }: { action: InstalledAction }) {
  const { name, kind, manifest, readme } = action;
  const readOnly = useReadOnly();
  return (
    <>
      <Head action={action} />
      <Section title="Permissions">
        <ul className="list-disc space-y-0.5 pl-5 text-sm">
          {permissionSentences(manifest).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </Section>
      {manifest.permissions.secrets.length > 0 && (
        <Section title="Secrets">
          <ActionSecrets action={action} />
        </Section>
      )}
      {kind === 'action' && !readOnly && (
        <Section title="Try it">
          <ActionForm name={name} manifest={manifest} />
        </Section>
      )}
      {manifest.examples.length > 0 && (
        <Section title="Examples">
          <ActionExamples name={name} examples={manifest.examples} />
        </Section>
      )}
      <Section title="Description for the model">
        <p className="text-sm whitespace-pre-wrap text-muted">{manifest.description_for_model}</p>
      </Section>
      {readme && (
        <Section title={kind === 'skill' ? 'Instructions' : 'Readme'}>
          <div className="rounded-md border bg-panel p-4 [&>*>:first-child]:mt-0">
            <Markdown text={readme} />
          </div>
        </Section>
      )}
    </>
  );
}

function Head({ action }: { action: InstalledAction }) {
  const { name, kind, manifest, source, enabled, error } = action;
  const readOnly = useReadOnlySettings();
  const queries = useQueryClient();
  const [update, setUpdate] = useState<FoundActions>();
  const enable = (on: boolean) =>
    attempt(async () => {
      await client.actions.change(name, { enabled: on });
      await queries.invalidateQueries(actionsQuery);
    });
  return (
    <header className="space-y-3">
      <div className="flex items-start justify-between gap-4">
        <div className="min-w-0">
          <h1 className="text-xl font-semibold">{manifest.name_for_human}</h1>
          <p className="font-mono text-xs text-faint">
            {kind === 'mcp' ? `mcp.${name}.…` : `action.${name}`}
            <KindLabel kind={kind} />
          </p>
        </div>
        <span className="flex shrink-0 items-center gap-2 text-sm text-muted">
          Use in new sessions
          <Switch
            label={`Give ${name} to new sessions`}
            on={enabled}
            disabled={readOnly}
            onChange={enable}
          />
        </span>
      </div>
      <p>{manifest.description_for_human}</p>
      {error !== null && <p className="text-sm break-words text-fail">{error}</p>}
      <p className="text-sm break-all text-muted">
        From <span className="font-mono text-xs">{source.from}</span>
        {source.version !== null && `, version ${source.version}`}
        {source.folder && `, folder ${source.folder}`}
        {source.commit !== null && (
          <>
            , commit <span className="font-mono text-xs">{source.commit.slice(0, 12)}</span>
          </>
        )}
      </p>
      {!readOnly && !update && <HeadButtons action={action} onUpdate={setUpdate} />}
      {update && <InstallForm found={update} onClose={() => setUpdate(undefined)} />}
    </header>
  );
}

interface HeadButtonsProps {
  action: InstalledAction;
  onUpdate(found: FoundActions): void;
}

function HeadButtons({ action: { name, manifest, source }, onUpdate }: HeadButtonsProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { busy, run } = useBusy();
  const look = async () => {
    const { from, version } = source;
    const found = await client.actions.find({ from, version });
    const own = found.actions.filter((one) => one.name === name);
    if (own[0]?.state === 'same') toast(`${manifest.name_for_human} is up to date.`);
    else onUpdate({ ...found, actions: own, faults: [] });
  };
  const remove = () => {
    const text = 'This deletes its image and secrets. Sessions that use it can no longer call it.';
    attemptConfirmed({ title: `Remove ${name}?`, text, verb: 'Remove', danger: true }, async () => {
      await client.actions.remove(name);
      await navigate({ to: '/actions' });
      await queries.invalidateQueries(actionsQuery);
    });
  };
  return (
    <div className="flex gap-2">
      {source.commit !== null && (
        <Button disabled={busy} onClick={() => run(look)}>
          {busy ? 'Looking…' : 'Check for updates'}
        </Button>
      )}
      <Button look="danger" onClick={remove}>
        Remove
      </Button>
    </div>
  );
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section aria-label={title} className="space-y-2">
      <h2 className="font-medium">{title}</h2>
      {children}
    </section>
  );
}
