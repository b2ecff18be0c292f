import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleX, RotateCw } from 'lucide-react';
import type { Check } from '@belay/protocol';
import { TopBar } from '@/app/top-bar';
import { Button } from '@/components/ui/button';
import { Failed, Loading } from '@/components/ui/empty';
import { client } from '@/lib/server';

/** Whether everything is there, and what to do where it is not: the first guide, and the doctor later. */
export function DoctorPage() {
  const checks = useQuery({ queryKey: ['checks'], queryFn: allChecks, staleTime: 0 });
  const broken = checks.data?.filter(({ ok }) => !ok).length ?? 0;
  return (
    <>
      <title>Doctor · Belay</title>
      <TopBar />
      <main id="content" className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-2xl p-6 max-sm:p-4">
          <div className="mb-1 flex items-center justify-between gap-3">
            <h1 className="text-xl font-semibold">Doctor</h1>
            <Button small disabled={checks.isFetching} onClick={() => void checks.refetch()}>
              <RotateCw size={13} aria-hidden /> {checks.isFetching ? 'Checking…' : 'Check again'}
            </Button>
          </div>
          <p className="mb-4 text-muted">
            {!checks.data
              ? 'What Belay needs to run agents.'
              : broken
                ? `${broken} of ${checks.data.length} need something from you, from the top down.`
                : 'Everything that Belay needs is there.'}
          </p>
          {checks.isPending && <Loading what="the checks" />}
          {checks.isError && <Failed error={checks.error} retry={() => void checks.refetch()} />}
          <ul className="divide-y rounded-md border bg-panel empty:hidden">
            {checks.data?.map(({ name, ok, detail, remedy }) => (
              <li key={name} className="flex gap-3 px-4 py-3">
                {ok ? (
                  <CircleCheck size={17} className="mt-0.5 shrink-0 text-pass" aria-label="Well" />
                ) : (
                  <CircleX size={17} className="mt-0.5 shrink-0 text-fail" aria-label="Not well" />
                )}
                <div className="min-w-0">
                  <p className="font-medium">{name}</p>
                  <p className="text-sm break-words text-muted">{detail}</p>
                  {!ok && remedy && <p className="mt-1 text-sm break-words">{remedy}</p>}
                </div>
              </li>
            ))}
          </ul>
          {checks.data && (
            <p className="mt-4 flex gap-4 text-sm">
              <Link to="/settings" search={{ section: 'models' }} className="underline">
                Set keys and try a model
              </Link>
              <Link to="/new" className="underline">
                Start a session
              </Link>
            </p>
          )}
        </div>
      </main>
    </>
  );
}

/** What the server checks, and whether there is a model to call. */
async function allChecks(): Promise<Check[]> {
  const [checks, models] = await Promise.all([client.checks(), client.models()]);
  const ready = models.filter(({ name, ready: set }) => set && !/^(scripted|cassette):/.test(name));
  const names = ready.slice(0, 3).map(({ title }) => title);
  const more = ready.length > names.length ? ` and ${ready.length - names.length} more` : '';
  const model: Check = ready.length
    ? { name: 'Model', ok: true, detail: `${names.join(', ')}${more} can be called.`, remedy: null }
    : {
        name: 'Model',
        ok: false,
        detail: 'No provider has a key, so only the demo can run.',
        remedy: 'Paste a key under Settings → Models and keys, then try it there.',
      };
  return [...checks, model];
}
