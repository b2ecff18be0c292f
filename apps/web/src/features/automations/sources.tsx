import { useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button } from '@/components/ui/button';
import { CopyText } from '@/components/ui/copy-text';
import { CheckField, TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { attemptConfirmed } from '@/lib/ask';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { useForm } from '@/lib/use-form';
import type { Submitted } from '@/lib/use-submit';
import { sourcesQuery } from './queries';

type Source = Awaited<ReturnType<typeof client.automations.sources>>[number];

/** The repositories whose events begin runs. */
export function Sources() {
  const readOnly = useReadOnlySettings();
  const sources = useQuery(sourcesQuery);
  const [connecting, setConnecting] = useState(false);
  if (!sources.data) return null;
  return (
    <section aria-label="Followed repositories" className="space-y-2 pt-4">
      <div className="flex items-center justify-between gap-3">
        <h2 className="font-medium">Followed repositories</h2>
        {!readOnly && !connecting && (
          <Button small onClick={() => setConnecting(true)}>
            Follow a repository
          </Button>
        )}
      </div>
      {connecting && <ConnectForm onClose={() => setConnecting(false)} />}
      {sources.data.length === 0 && !connecting && (
        <p className="text-sm text-muted">
          Follow a repository to begin runs by its issues, pull requests and checks. Its git host
          needs a token first, under{' '}
          <Link to="/settings" search={{ section: 'git' }} className="underline">
            Settings, Git hosts
          </Link>
          .
        </p>
      )}
      {sources.data.length > 0 && (
        <ul className="divide-y rounded-md border bg-panel">
          {sources.data.map((source) => (
            <SourceRow key={source.id} source={source} readOnly={readOnly} />
          ))}
        </ul>
      )}
    </section>
  );
}

function SourceRow({ source, readOnly }: { source: Source; readOnly: boolean }) {
  const { id, host, repository, self, webhook, trustedBy, problem } = source;
  const queries = useQueryClient();
  const remove = () =>
    attemptConfirmed(
      {
        title: `Stop following ${repository}?`,
        text: 'Its events begin no more runs. Automations stay.',
        verb: 'Stop following',
        danger: true,
      },
      async () => {
        await client.automations.disconnect(id);
        await queries.invalidateQueries(sourcesQuery);
      },
    );
  const details = [
    webhook ? 'by webhook and polling' : 'by polling',
    `as ${self}`,
    trustedBy !== null && `its own definitions are trusted by ${trustedBy}`,
  ].filter(Boolean);
  return (
    <li className="flex items-start justify-between gap-4 px-4 py-3 text-sm">
      <span className="min-w-0">
        <span className="block font-medium break-words">
          {host}/{repository}
        </span>
        <span className="block text-muted">{details.join(' · ')}</span>
        {problem !== null && <span className="block break-words text-fail">{problem}</span>}
      </span>
      {!readOnly && (
        <Button small look="danger" onClick={remove} aria-label={`Stop following ${repository}`}>
          Stop following
        </Button>
      )}
    </li>
  );
}

function ConnectForm({ onClose }: { onClose(): void }) {
  const queries = useQueryClient();
  const { values, bind } = useForm({ host: 'github.com', repository: '', trustFiles: false });
  const [hook, setHook] = useState<{ url: string; secret: string }>();
  const connect = async (): Promise<Submitted> => {
    const { hookUrl, secret } = await client.automations.connect({
      host: values.host.trim(),
      repository: values.repository.trim(),
      trustFiles: values.trustFiles,
    });
    await queries.invalidateQueries(sourcesQuery);
    if (hookUrl === null || secret === null) return onClose();
    setHook({ url: hookUrl, secret });
    return 'again';
  };
  if (hook)
    return (
      <div role="status" className="space-y-2 rounded-md border border-line-strong bg-panel p-3">
        <p className="text-sm">
          The repository is followed. To learn of events at once, make a webhook there with this
          address and secret, which is shown only now:
        </p>
        <CopyText label="Copy address" text={hook.url} />
        <CopyText label="Copy secret" text={hook.secret} />
        <Button small onClick={onClose}>
          Done
        </Button>
      </div>
    );
  return (
    <div className="rounded-md border bg-panel p-4">
      <Form
        label="Follow a repository"
        submit="Follow"
        submitting="Asking…"
        disabled={values.repository.trim() === ''}
        onSubmit={connect}
        onCancel={onClose}
      >
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField label="Git host" spellCheck={false} {...bind('host')} />
          <TextField
            label="Repository"
            placeholder="acme/api"
            spellCheck={false}
            autoFocus
            {...bind('repository')}
          />
        </div>
        <CheckField {...bind('trustFiles')}>
          Use the definitions in <code>.belay/automations</code> of its default branch
        </CheckField>
      </Form>
    </div>
  );
}
