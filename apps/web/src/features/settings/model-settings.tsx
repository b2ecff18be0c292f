import { useQuery } from '@tanstack/react-query';
import { QueryState } from '@/components/ui/query-state';
import { modelsQuery, providersQuery } from '@/lib/queries';
import { ModelRow } from './model-row';
import { NewProviderForm, ProviderForm } from './provider-form';

/** The available models, and the API keys they need. Keys are stored only on the server. */
export function ModelSettings() {
  const models = useQuery(modelsQuery);
  const providers = useQuery(providersQuery);
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">
        Keys stay on the server: they are never shown again and never sent to a sandbox. A key set
        here takes precedence over one from the server’s environment.
      </p>
      <QueryState query={providers} what="the providers" />
      {providers.data?.map((provider) => (
        <ProviderForm key={provider.name} provider={provider} />
      ))}
      {providers.data && <NewProviderForm taken={providers.data.map(({ name }) => name)} />}
      <h2 className="pt-2 font-medium">Models</h2>
      <QueryState query={models} what="the models" />
      <ul className="divide-y rounded-md border bg-panel empty:hidden">
        {models.data?.map((model) => (
          <ModelRow key={model.name} model={model} />
        ))}
      </ul>
    </div>
  );
}
