import { useState } from 'react';
import {
  errorFrom,
  isKnownProvider,
  type KnownProvider,
  type ProviderChange,
  type ProviderSetup,
} from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { modelsQuery, providersQuery } from '@/lib/queries';
import { queryClient } from '@/lib/query-client';
import { client } from '@/lib/server';
import { attempt, toast } from '@/lib/toasts';
import { useForm, type FormState } from '@/lib/use-form';
import type { Submitted } from '@/lib/use-submit';

const titles: Record<KnownProvider, string> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
};
const titleOf = (name: string): string => (isKnownProvider(name) ? titles[name] : name);

const keyState = {
  saved: 'A key is saved.',
  environment: 'The key comes from the server’s environment.',
  none: 'No key is set.',
};

/** One provider, with a form to change its key and address. */
export function ProviderForm({ provider }: { provider: ProviderSetup }) {
  const [open, setOpen] = useState(false);
  const { name, key, url } = provider;
  const isReady = key !== null || !isKnownProvider(name);
  const verb = isReady ? 'Change' : 'Add key';
  return (
    <section aria-label={titleOf(name)} className="rounded-md border bg-panel p-3">
      <div className="flex items-center justify-between gap-x-3 gap-y-1 max-sm:flex-wrap">
        <div className="min-w-0">
          <h2 className="font-medium">{titleOf(name)}</h2>
          <p className={`text-sm ${isReady ? 'text-pass' : 'text-muted'}`}>
            {isReady && key === null ? 'Used without a key.' : keyState[key ?? 'none']}
            {url && <span className="break-all text-muted"> {url}</span>}
          </p>
        </div>
        {!open && (
          <Button
            small
            aria-label={isReady ? `Change ${titleOf(name)}` : `Add key to ${titleOf(name)}`}
            onClick={() => setOpen(true)}
          >
            {verb}
          </Button>
        )}
      </div>
      {open && <ProviderFields provider={provider} onClose={() => setOpen(false)} />}
    </section>
  );
}

/** Adds a server with an OpenAI-compatible API under a name of the user’s choice. */
export function NewProviderForm({ taken }: { taken: readonly string[] }) {
  const [open, setOpen] = useState(false);
  if (!open) return <Button onClick={() => setOpen(true)}>Add a model server</Button>;
  return (
    <section aria-label="New model server" className="rounded-md border bg-panel p-3">
      <h2 className="font-medium">Model server</h2>
      <p className="text-sm text-muted">
        Ollama, vLLM, LM Studio, OpenRouter, or any other server with an OpenAI-compatible API.
      </p>
      <ProviderFields taken={taken} onClose={() => setOpen(false)} />
    </section>
  );
}

interface ProviderFieldsProps {
  /** Undefined for a new server. */
  provider?: ProviderSetup;
  /** Names of other providers. */
  taken?: readonly string[];
  onClose(): void;
}

interface ProviderValues {
  name: string;
  key: string;
  url: string;
}

/** Keys can be set but are never shown. */
function ProviderFields({ provider, taken, onClose }: ProviderFieldsProps) {
  const before = provider?.url ?? '';
  const form = useForm<ProviderValues>({ name: provider?.name ?? '', key: '', url: before });
  const { values } = form;
  const name = values.name.trim();
  const submit = () => {
    const url = values.url.trim();
    const key = values.key.trim() || undefined;
    const change = { key, url: url === before ? undefined : url || null };
    return save(change, `${titleOf(name)} saved.`);
  };
  const save = async (change: ProviderChange, done: string): Promise<Submitted> => {
    const refused = await savedOrRefused(name, change);
    if (refused !== undefined) {
      const again = () => save({ ...change, unchecked: true }, done);
      return {
        warning: `Not saved: ${refused}`,
        anyway: { label: 'Save anyway', submit: again },
      };
    }
    onClose();
    toast(done);
  };
  const { removal, verb, done } = removalOf(provider);
  return (
    <Form
      className="mt-3"
      submit="Save"
      submitting="Checking…"
      onSubmit={submit}
      onCancel={onClose}
      aside={
        removal && (
          <Button
            look="danger"
            className="ml-auto"
            onClick={() => attempt(() => save(removal, done))}
          >
            {verb}
          </Button>
        )
      }
    >
      <div className="grid gap-3 md:grid-cols-2">
        {!provider && <NameField form={form} taken={taken ?? []} />}
        <AddressFields form={form} provider={provider} />
      </div>
    </Form>
  );
}

/** Saves a setting if the provider works with it; otherwise returns what was tried and seen. */
async function savedOrRefused(name: string, change: ProviderChange): Promise<string | undefined> {
  try {
    const providers = await client.models.setProvider(name, change);
    queryClient.setQueryData(providersQuery.queryKey, providers);
    void queryClient.invalidateQueries({ queryKey: modelsQuery.queryKey });
    return undefined;
  } catch (error) {
    const { code, message } = errorFrom(error);
    if (code === 'model_failed') return message;
    throw error;
  }
}

interface FieldsOfProvider {
  form: FormState<ProviderValues>;
}

function NameField({ form, taken }: FieldsOfProvider & { taken: readonly string[] }) {
  return (
    <TextField
      label="Name"
      hint={`Its models are named ${form.values.name.trim() || 'ollama'}:MODEL.`}
      autoFocus
      required
      spellCheck={false}
      pattern="[a-z][a-z0-9\-]{0,31}"
      title="Lowercase letters, digits and hyphens"
      placeholder="ollama"
      check={(value) => (taken.includes(value.trim()) ? 'This name is taken.' : undefined)}
      {...form.bind('name')}
    />
  );
}

function AddressFields({
  form: { bind, values },
  provider,
}: FieldsOfProvider & { provider: ProviderSetup | undefined }) {
  const isServer = !provider || !isKnownProvider(provider.name);
  const losesKey = Boolean(provider?.key) && values.url.trim() !== (provider?.url ?? '');
  return (
    <>
      <TextField
        label="Base URL"
        hint={isServer ? 'Usually ends with /v1.' : 'Leave empty for the provider’s default.'}
        type="url"
        required={isServer}
        placeholder={isServer ? 'http://127.0.0.1:11434/v1' : ''}
        {...bind('url')}
      />
      <TextField
        label="API key"
        hint={
          losesKey
            ? 'The key belongs to the earlier address: enter the one for this address.'
            : isServer && 'Leave empty if the server needs none.'
        }
        autoFocus={provider !== undefined}
        type="password"
        autoComplete="off"
        placeholder={provider?.key ? 'Enter a new key to replace it' : 'Paste the key'}
        {...bind('key')}
      />
    </>
  );
}

/** What can be removed: a server as a whole, of a known provider its key. */
function removalOf(provider: ProviderSetup | undefined): {
  removal?: ProviderChange;
  verb: string;
  done: string;
} {
  if (provider && !isKnownProvider(provider.name))
    return { removal: { key: null, url: null }, verb: 'Remove', done: `${provider.name} removed.` };
  const words = { verb: 'Remove key', done: 'Key removed.' };
  return provider?.key === 'saved' ? { removal: { key: null }, ...words } : words;
}
