import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleX, RotateCw } from 'lucide-react';
import { isPlayedModel, type Check, type ModelChoice } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { QueryState } from '@/components/ui/query-state';
import { client } from '@/lib/server';
import { TryModel } from './try-model';

/** Checks that everything agents need is available, and says how to fix what is not. */
export function Checks() {
  const checks = useQuery({ queryKey: ['checks'], queryFn: allChecks, staleTime: 0 });
  return (
    <>
      <div className="mb-2 flex items-center justify-between gap-3">
        <p className="text-sm text-muted">{summaryOf(checks.data)}</p>
        <Button small disabled={checks.isFetching} onClick={() => void checks.refetch()}>
          <RotateCw size={13} aria-hidden /> {checks.isFetching ? 'Checking…' : 'Check again'}
        </Button>
      </div>
      <QueryState query={checks} what="the checks" />
      {checks.data && (
        <ul className="divide-y rounded-md border bg-panel">
          {checks.data.checks.map((check) => (
            <CheckRow key={check.name} check={check} />
          ))}
          <ModelCheck ready={checks.data.ready} />
        </ul>
      )}
    </>
  );
}

function CheckRow({ check: { name, ok, detail, remedy }, children }: CheckRowProps) {
  return (
    <li className="flex gap-3 px-4 py-3">
      {ok ? (
        <CircleCheck size={17} className="mt-0.5 shrink-0 text-pass" aria-label="Passed" />
      ) : (
        <CircleX size={17} className="mt-0.5 shrink-0 text-fail" aria-label="Failed" />
      )}
      <div className="min-w-0 flex-1">
        <p className="font-medium">{name}</p>
        <p className="text-sm break-words text-muted">{detail}</p>
        {!ok && remedy && <p className="mt-1 text-sm break-words">{remedy}</p>}
      </div>
      {children}
    </li>
  );
}

interface CheckRowProps {
  check: Check;
  children?: ReactNode;
}

/** Checks only that a model has a key; a test call shows whether it responds. */
function ModelCheck({ ready }: { ready: readonly ModelChoice[] }) {
  const [first] = ready;
  if (!first) {
    const detail = 'No provider has a key, so only the demo can run.';
    const remedy = 'Add a provider’s API key, or the URL of your own model server.';
    return (
      <CheckRow check={{ name: modelName, ok: false, detail, remedy }}>
        <Link to="/settings" search={{ section: 'models' }} className={link}>
          Add a key
        </Link>
      </CheckRow>
    );
  }
  const names = ready.slice(0, 3).map(({ title }) => title);
  const more = ready.length > names.length ? ` and ${ready.length - names.length} more` : '';
  const detail = `${names.join(', ')}${more} can be called.`;
  return (
    <CheckRow check={{ name: modelName, ok: true, detail, remedy: null }}>
      <TryModel model={first} />
    </CheckRow>
  );
}

const modelName = 'Model';

const link =
  'inline-flex h-6 shrink-0 items-center rounded-md border border-line-strong bg-panel px-2 text-xs font-medium hover:bg-hover max-md:h-8 max-md:text-sm';

interface AllChecks {
  checks: Check[];
  /** Available models of real providers. */
  ready: ModelChoice[];
}

async function allChecks(): Promise<AllChecks> {
  const [checks, models] = await Promise.all([client.server.checks(), client.models.list()]);
  return { checks, ready: models.filter((model) => model.ready && !isPlayedModel(model.name)) };
}

/** Counts every row of the list, that of the model as well. */
function summaryOf(all: AllChecks | undefined): string {
  if (!all) return 'What Belay needs to run agents.';
  const rows = [...all.checks.map(({ ok }) => ok), all.ready.length > 0];
  const broken = rows.filter((ok) => !ok).length;
  if (broken === 0) return 'This machine is ready to run agents.';
  return `${broken} of ${rows.length} ${broken === 1 ? 'needs' : 'need'} attention; start at the top.`;
}
