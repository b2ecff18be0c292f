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

/** Key and address of one provider. A key is written and never shown again. */
export function ProviderForm({ provider }: { provider: ProviderSetup }) {
  const queries = useQueryClient();
  const [key, setKey] = useState('');
  const [url, setUrl] = useState(provider.url ?? '');
  const change = (next: ProviderChange, done: string) =>
    attempt(async () => {
      queries.setQueryData(providersQuery.queryKey, await client.setProvider(provider.name, next));
      setKey('');
      await queries.invalidateQueries({ queryKey: modelsQuery.queryKey });
    }, done);
  const save = (event: FormEvent) => {
    event.preventDefault();
    const address = url.trim() === (provider.url ?? '') ? undefined : url.trim() || null;
    change({ key: key.trim() || undefined, url: address }, `${titles[provider.name]} is saved.`);
  };
  return (
    <form onSubmit={save} className="space-y-3 rounded-md border bg-panel p-3">
      <div className="flex items-baseline justify-between gap-3">
        <h3 className="font-medium">{titles[provider.name]}</h3>
        <span className={`text-sm ${provider.key ? 'text-pass' : 'text-muted'}`}>
          {keyState[provider.key ?? 'none']}
        </span>
      </div>
      <div className="grid gap-3 md:grid-cols-2">
        <Field label="Key">
          <Input
            type="password"
            autoComplete="off"
            value={key}
            placeholder={provider.key ? 'Write a new one to replace it' : 'Paste the key'}
            onChange={(event) => setKey(event.target.value)}
          />
        </Field>
        <Field label="Address" hint="Empty for the provider’s own.">
          <Input
            type="url"
            value={url}
            placeholder={provider.name === 'openai-compatible' ? 'http://127.0.0.1:11434/v1' : ''}
            onChange={(event) => setUrl(event.target.value)}
          />
        </Field>
      </div>
      <div className="flex gap-2">
        <Button type="submit" small>
          Save
        </Button>
        {provider.key === 'saved' && (
          <Button small look="danger" onClick={() => change({ key: null }, 'The key is removed.')}>
            Remove the key
          </Button>
        )}
      </div>
    </form>
  );
}
