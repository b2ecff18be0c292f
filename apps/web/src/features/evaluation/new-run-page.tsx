import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Page } from '@/components/page';
import { BackLink } from '@/components/ui/back-link';
import { Button } from '@/components/ui/button';
import { Disclosure } from '@/components/ui/disclosure';
import { QueryState } from '@/components/ui/query-state';
import { client } from '@/lib/server';
import { NewRunForm } from './new-run-form';
import { benchmarkDataQuery } from './queries';
import { readableIn } from './run-request';

/** The page that starts a benchmark run on the server’s machine. */
export function NewRunPage() {
  const navigate = useNavigate();
  const data = useQuery(benchmarkDataQuery);
  const readable = readableIn(data.data);
  const unread = data.data?.entries.filter(({ suite }) => suite === null) ?? [];
  return (
    <Page title="New run · Belay" className="overflow-y-auto">
      <div className="mx-auto max-w-2xl space-y-4 p-6 max-sm:p-4">
        <BackLink to="/evaluations">All runs</BackLink>
        <h1 className="text-xl font-semibold">New run</h1>
        <p className="text-sm text-muted">
          The run uses this server’s machine: its trials are containers on its engine.
        </p>
        <QueryState query={data} what="the benchmark data" />
        {data.data && readable.length === 0 && (
          <NoData
            folder={data.data.folder}
            busy={data.isFetching}
            onRetry={() => void data.refetch()}
          />
        )}
        {readable.length > 0 && (
          <NewRunForm
            data={readable}
            onStart={async (run) => {
              const { id } = await client.evaluations.start(run);
              await navigate({ to: '/evaluations/$id', params: { id } });
            }}
            onCancel={() => void navigate({ to: '/evaluations' })}
          />
        )}
        {unread.length > 0 && (
          <Disclosure title="Data that no suite can read">
            <ul className="mt-1 space-y-1 text-sm text-muted">
              {unread.map(({ name, problem }) => (
                <li key={name} className="break-words">
                  <span className="font-mono text-xs">{name}</span>: {problem}
                </li>
              ))}
            </ul>
          </Disclosure>
        )}
      </div>
    </Page>
  );
}

interface NoDataProps {
  folder: string;
  busy: boolean;
  onRetry(): void;
}

function NoData({ folder, busy, onRetry }: NoDataProps) {
  return (
    <section aria-label="No data" className="space-y-2 rounded-md border bg-panel p-4 text-sm">
      <p className="font-medium">No benchmark data yet</p>
      <p className="text-muted">
        Put your copy of a suite into this folder on the server’s machine, as a file or a folder
        such as <code>HumanEval.jsonl.gz</code> or Aider’s <code>polyglot-benchmark</code>:
      </p>
      <p className="rounded-md border bg-sunken px-3 py-2 font-mono text-xs break-all">{folder}</p>
      <Button small disabled={busy} onClick={onRetry}>
        Look again
      </Button>
    </section>
  );
}
