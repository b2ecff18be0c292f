import { useState, type FormEvent } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { errorFrom, type ProviderChange, type ProviderSetup } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Field, Input } from '@/components/ui/field';
import { modelsQuery, providersQuery } from '@/lib/queries';
import { client } from '@/lib/server';
import { toast, toastError } from '@/lib/toasts';

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

/** One provider in a line; its form once the user wants to change it. */
export function ProviderForm({ provider }: { provider: ProviderSetup }) {
  const [open, setOpen] = useState(false);
  const title = titles[provider.name];
  const verb = provider.key ? 'Change key' : 'Add key';
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
  const [checking, setChecking] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const change = async (next: ProviderChange, done: string) => {
    setFault(null);
    setChecking(true);
    try {
      const providers = await client.models.setProvider(provider.name, next);
      const wrong = next.key ? await faultOfKey(provider.name) : null;
      queries.setQueryData(providersQuery.queryKey, providers);
      void queries.invalidateQueries({ queryKey: modelsQuery.queryKey });
      if (wrong !== null) return setFault(`It is saved, but a short call failed: ${wrong}`);
      onClose();
      toast(done);
    } catch (error) {
      toastError(error);
    } finally {
      setChecking(false);
    }
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    const address = url.trim() === (provider.url ?? '') ? undefined : url.trim() || null;
    void change(
      { key: key.trim() || undefined, url: address },
      `${titles[provider.name]} is saved.`,
    );
  };
  return (
    <form onSubmit={save} className="mt-3 space-y-3">
      <div className="grid gap-3 md:grid-cols-2">
        <Field
          label="API key"
          hint={compatible ? 'Leave empty if the server needs none.' : undefined}
        >
          <Input
            autoFocus
            type="password"
            autoComplete="off"
            value={key}
            placeholder={provider.key ? 'Enter a new key to replace it' : 'Paste the key'}
            onChange={(event) => setKey(event.target.value)}
          />
        </Field>
        <Field
          label="Base URL"
          hint={compatible ? undefined : 'Leave empty for the provider’s default.'}
        >
          <Input
            type="url"
            value={url}
            placeholder={compatible ? 'http://127.0.0.1:11434/v1' : ''}
            onChange={(event) => setUrl(event.target.value)}
          />
        </Field>
      </div>
      {fault !== null && (
        <p role="alert" className="rounded-md bg-fail-soft px-3 py-2 text-sm">
          {fault}
        </p>
      )}
      <div className="flex gap-2">
        <Button type="submit" small look="solid" disabled={checking}>
          {checking ? 'Checking…' : 'Save'}
        </Button>
        <Button small look="ghost" onClick={onClose}>
          Cancel
        </Button>
        {provider.key === 'saved' && (
          <Button
            small
            look="danger"
            className="ml-auto"
            onClick={() => void change({ key: null }, 'Key removed.')}
          >
            Remove key
          </Button>
        )}
      </div>
    </form>
  );
}

/** Why a model of the provider cannot be called with its new key; null when one can, or there is none to try. */
async function faultOfKey(provider: ProviderSetup['name']): Promise<string | null> {
  const models = await client.models.list();
  const model = models.find(({ name, ready }) => ready && name.startsWith(`${provider}:`));
  if (!model) return null;
  return client.models.try({ model: model.name }).then(
    () => null,
    (error: unknown) => errorFrom(error).message,
  );
}
