import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { errorFrom, type ProviderChange, type ProviderSetup } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { modelsQuery, providersQuery } from '@/lib/queries';
import { client } from '@/lib/server';
import { attempt, toast } from '@/lib/toasts';
import { useForm } from '@/lib/use-form';
import type { Submitted } from '@/lib/use-submit';

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

/** One provider, with a form to change its key. */
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
      {open && <KeyForm provider={provider} onClose={() => setOpen(false)} />}
    </section>
  );
}

/** Keys can be set but are never shown. */
function KeyForm({ provider, onClose }: { provider: ProviderSetup; onClose(): void }) {
  const queries = useQueryClient();
  const { name } = provider;
  const before = provider.url ?? '';
  const { values, bind } = useForm({ key: '', url: before });
  const compatible = name === 'openai-compatible';
  const save = async (change: ProviderChange, done: string): Promise<Submitted> => {
    const providers = await client.models.setProvider(name, change);
    const fault = change.key ? await faultOfKey(name) : null;
    queries.setQueryData(providersQuery.queryKey, providers);
    void queries.invalidateQueries({ queryKey: modelsQuery.queryKey });
    if (fault !== null) return { warning: `Saved, but a test call failed: ${fault}` };
    onClose();
    toast(done);
  };
  const submit = () => {
    const url = values.url.trim();
    return save(
      { key: values.key.trim() || undefined, url: url === before ? undefined : url || null },
      `${titles[name]} saved.`,
    );
  };
  return (
    <Form
      className="mt-3"
      submit="Save"
      submitting="Checking…"
      onSubmit={submit}
      onCancel={onClose}
      aside={
        provider.key === 'saved' && (
          <Button
            small
            look="danger"
            className="ml-auto"
            onClick={() => attempt(() => save({ key: null }, 'Key removed.'))}
          >
            Remove key
          </Button>
        )
      }
    >
      <div className="grid gap-3 md:grid-cols-2">
        <TextField
          label="API key"
          hint={compatible && 'Leave empty if the server needs none.'}
          autoFocus
          type="password"
          autoComplete="off"
          placeholder={provider.key ? 'Enter a new key to replace it' : 'Paste the key'}
          {...bind('key')}
        />
        <TextField
          label="Base URL"
          hint={!compatible && 'Leave empty for the provider’s default.'}
          type="url"
          placeholder={compatible ? 'http://127.0.0.1:11434/v1' : ''}
          {...bind('url')}
        />
      </div>
    </Form>
  );
}

/**
 * Tests the new key with a call to one model of the provider. Returns the error; null if the call
 * succeeds or no model is available.
 */
async function faultOfKey(provider: ProviderSetup['name']): Promise<string | null> {
  const models = await client.models.list();
  const model = models.find(({ name, ready }) => ready && name.startsWith(`${provider}:`));
  if (!model) return null;
  return client.models.try({ model: model.name }).then(
    () => null,
    (error: unknown) => errorFrom(error).message,
  );
}
