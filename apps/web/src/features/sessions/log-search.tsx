import { useDeferredValue } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { SessionSummary } from '@belay/protocol';
import { client } from '@/lib/server';
import { plural } from '@/lib/format';

/** Places of all logs where the words occur. */
export function LogSearch({
  query,
  sessions,
}: {
  query: string;
  sessions: readonly SessionSummary[];
}) {
  const words = useDeferredValue(query.trim());
  const found = useQuery({
    queryKey: ['search', words],
    queryFn: () => client.sessions.search(words),
    enabled: words.length >= 2,
  });
  if (!found.data?.length) return null;
  const titles = new Map(sessions.map(({ id, title }) => [id, title]));
  return (
    <section
      aria-label="Found in logs"
      className="max-h-60 shrink-0 overflow-y-auto border-b bg-sunken px-4 py-2"
    >
      <h2 className="mb-1 text-xs text-faint">{plural(found.data.length, 'place')} in the logs</h2>
      <ul>
        {found.data.slice(0, 100).map(({ session, seq, excerpt }) => (
          <li key={`${session} ${seq}`}>
            <Link
              to="/sessions/$id"
              params={{ id: session }}
              search={{ at: seq }}
              className="flex gap-3 rounded-sm px-1 py-0.5 text-sm hover:bg-hover"
            >
              <span className="w-48 shrink-0 truncate">{titles.get(session) ?? session}</span>
              <span className="truncate font-mono text-xs leading-5 text-muted">{excerpt}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
