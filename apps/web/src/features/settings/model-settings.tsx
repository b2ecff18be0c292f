import { useQuery } from '@tanstack/react-query';
import { Failed, Loading } from '@/components/ui/empty';
import { modelsQuery } from '../sessions/queries';

/** Which models can be called, and what the others need. Keys live with the server alone. */
export function ModelSettings() {
  const models = useQuery(modelsQuery);
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">
        Keys are read from the server’s environment and are never shown nor sent to a sandbox. Set
        one there and start the server again.
      </p>
      {models.isPending && <Loading what="the models" />}
      {models.isError && <Failed error={models.error} retry={() => void models.refetch()} />}
      <ul className="divide-y rounded-md border bg-panel empty:hidden">
        {models.data?.map(({ name, title, ready, remedy }) => (
          <li key={name} className="flex items-baseline justify-between gap-4 px-3 py-2">
            <div className="min-w-0">
              <p>{title}</p>
              <p className="font-mono text-xs break-all text-faint">{name}</p>
              {!ready && remedy && <p className="mt-1 text-sm text-muted">{remedy}</p>}
            </div>
            <span className={`shrink-0 text-sm ${ready ? 'text-pass' : 'text-muted'}`}>
              {ready ? 'ready' : 'not ready'}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
