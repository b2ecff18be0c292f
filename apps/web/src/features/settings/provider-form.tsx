import { useState, type FormEvent } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { ProviderChange, ProviderSetup } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Field, Input } from '@/components/ui/field';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { modelsQuery, providersQuery } from '../sessions/queries';

const titles: Record<ProviderSetup['name'], string> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
  'openai-compatible': 'OpenAI-compatible (Ollama, vLLM, LM Studio, OpenRouter…)',
};

const keyState = {
  saved: 'A key is saved.',
  environment: 'The key comes from the server’s environment.',
  none: 'No key is set.',
};

/** One provider in a line; its form once a person wants to change it. */
export function ProviderForm({ provider }: { provider: ProviderSetup }) {
  const [open, setOpen] = useState(false);
  const title = titles[provider.name];
  const verb = provider.key ? 'Change the key' : 'Add a key';
  return (
    <section aria-label={title} className="rounded-md border bg-panel p-3">
      <div className="flex items-center justify-between gap-x-3 gap-y-1 max-sm:flex-wrap">
        <div className="min-w-0">
          <h2 className="font-medium">{title}</h2>
          <p className={`text-sm ${provider.key ? 'text-pass' : 'text-muted'}`}>
            {keyState[provider.key ?? 'none']}
            {provider.url && <span className="text-muted"> {provider.url}</span>}
          </p>
        </div>
        {!open && (
          <Button
            small
            aria-label={`${verb} ${provider.key ? 'of' : 'to'} ${title}`}
            onClick={() => setOpen(true)}
          >
            {verb}
          </Button>
        )}
      </div>
      {open && <Form provider={provider} onClose={() => setOpen(false)} />}
    </section>
  );
}

/** A key is written and never shown again. */
function Form({ provider, onClose }: { provider: ProviderSetup; onClose(): void }) {
  const queries = useQueryClient();
  const [key, setKey] = useState('');
  const [url, setUrl] = useState(provider.url ?? '');
  const compatible = provider.name === 'openai-compatible';
  const change = (next: ProviderChange, done: string) =>
    attempt(async () => {
      queries.setQueryData(providersQuery.queryKey, await client.setProvider(provider.name, next));
      onClose();
      await queries.invalidateQueries({ queryKey: modelsQuery.queryKey });
    }, done);
  const save = (event: FormEvent) => {
    event.preventDefault();
    const address = url.trim() === (provider.url ?? '') ? undefined : url.trim() || null;
    change({ key: key.trim() || undefined, url: address }, `${titles[provider.name]} is saved.`);
  };
  return (
    <form onSubmit={save} className="mt-3 space-y-3">
      <div className="grid gap-3 md:grid-cols-2">
        <Field label="Key" hint={compatible ? 'Empty where the server wants none.' : undefined}>
          <Input
            autoFocus
            type="password"
            autoComplete="off"
            value={key}
            placeholder={provider.key ? 'Write a new one to replace it' : 'Paste the key'}
            onChange={(event) => setKey(event.target.value)}
          />
        </Field>
        <Field label="Address" hint={compatible ? undefined : 'Empty for the provider’s own.'}>
          <Input
            type="url"
            value={url}
            placeholder={compatible ? 'http://127.0.0.1:11434/v1' : ''}
            onChange={(event) => setUrl(event.target.value)}
          />
        </Field>
      </div>
      <div className="flex gap-2">
        <Button type="submit" small look="solid">
          Save
        </Button>
        <Button small look="ghost" onClick={onClose}>
          Cancel
        </Button>
        {provider.key === 'saved' && (
          <Button
            small
            look="danger"
            className="ml-auto"
            onClick={() => change({ key: null }, 'The key is removed.')}
          >
            Remove the key
          </Button>
        )}
      </div>
    </form>
  );
}
