import { useInfiniteQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { dateTimeText, visibleText, type AuditEntry } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { VisibleText } from '@/components/ui/visible-text';
import { client } from '@/lib/server';

/** The audit log of changes and refused requests, loaded page by page. */
export function AuditSettings() {
  const audit = useInfiniteQuery({
    queryKey: ['audit'],
    queryFn: ({ pageParam }) => client.audit.list({ limit: 50, before: pageParam }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const entries = audit.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">
        Every change and every refused request through any API, newest first. Reads are not
        recorded, and neither is what was typed or sent.
      </p>
      <QueryState query={audit} what="the audit log" />
      {audit.data && entries.length === 0 && <Empty title="Nothing recorded yet" />}
      {entries.length > 0 && (
        <div className="overflow-x-auto rounded-md border bg-panel">
          <table className="w-full text-left text-xs">
            <thead className="text-faint">
              <tr className="border-b">
                {['Time', 'Who', 'API', 'Action', 'Outcome'].map((name) => (
                  <th
                    key={name}
                    scope="col"
                    className={clsx(
                      'px-3 py-2 font-medium whitespace-nowrap max-sm:px-2',
                      name === 'API' && 'max-sm:hidden',
                    )}
                  >
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y">
              {entries.map((entry) => (
                <AuditRow key={entry.id} entry={entry} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {audit.hasNextPage && (
        <Button disabled={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>
          Show older
        </Button>
      )}
    </div>
  );
}

function AuditRow({ entry }: { entry: AuditEntry }) {
  const { time, label, address, api, action, subject, outcome } = entry;
  const at = new Date(time);
  return (
    <tr className="align-top">
      <td
        className="px-3 py-1.5 tabular-nums max-sm:px-2 sm:whitespace-nowrap"
        title={dateTimeText(time)}
      >
        {at.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })}{' '}
        <span className="whitespace-nowrap text-muted">{at.toLocaleTimeString()}</span>
      </td>
      <td className="max-w-40 px-3 py-1.5 max-sm:max-w-20 max-sm:px-2">
        <p className="truncate">{label ?? 'Not logged in'}</p>
        {address && <p className="truncate text-faint">{address.replace(/^::ffff:/, '')}</p>}
      </td>
      <td className="px-3 py-1.5 max-sm:hidden">{api}</td>
      <td className="max-w-72 px-3 py-1.5 max-sm:max-w-36 max-sm:px-2">
        <p>{action}</p>
        {subject && (
          <p className="truncate text-faint" title={visibleText(subject)}>
            <VisibleText text={subject} />
          </p>
        )}
      </td>
      <td
        className={clsx(
          'px-3 py-1.5 max-sm:px-2 sm:whitespace-nowrap',
          outcome === 'ok' ? 'text-muted' : 'text-fail',
        )}
      >
        {outcome.replaceAll('_', ' ')}
      </td>
    </tr>
  );
}
