import { useDeferredValue, type ReactNode } from 'react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { pluralText, visibleText, type SessionSummary } from '@belay/protocol';
import { Failed } from '@/components/ui/empty';
import { client } from '@/lib/server';

interface LogSearchProps {
  query: string;
  sessions: readonly SessionSummary[];
}

/** Search results from the logs of all sessions. */
export function LogSearch({ query, sessions }: LogSearchProps) {
  const words = useDeferredValue(query.trim());
  const found = useQuery({
    queryKey: ['search', words],
    queryFn: () => client.sessions.search({ q: words }),
    enabled: words.length >= 2,
    placeholderData: keepPreviousData,
  });
  if (words.length < 2) return null;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const titles = new Map(sessions.map(({ id, title }) => [id, title]));
  const places = found.data ?? [];
  return (
    <section
      aria-label="Found in logs"
      className="max-h-60 shrink-0 overflow-y-auto border-b bg-sunken px-4 py-2"
    >
      <h2 role="status" className="text-xs text-faint">
        {found.isPending ? 'Searching the logs…' : headline(places.length)}
      </h2>
      <ul className="mt-1 empty:hidden">
        {places.map(({ session, seq, excerpt }) => (
          <li key={`${session} ${seq}`}>
            <Link
              to="/sessions/$id"
              params={{ id: session }}
              search={{ at: seq }}
              className="flex gap-3 rounded-sm px-1 py-0.5 text-sm hover:bg-hover max-sm:flex-col max-sm:gap-0"
            >
              <span className="w-48 shrink-0 truncate max-sm:w-full">
                {titles.get(session) ?? session}
              </span>
              <span className="truncate font-mono text-xs leading-5 text-muted">
                {marked(excerpt, words)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The server returns at most the newest 100 results. */
const most = 100;

const headline = (places: number): string =>
  places === 0
    ? 'No matches in the logs'
    : places === most
      ? `The newest ${most} results in the logs`
      : `${pluralText(places, 'result')} in the logs`;

/** Highlights the searched words in an excerpt. */
function marked(excerpt: string, query: string): ReactNode {
  const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const shown = visibleText(excerpt);
  if (words.length === 0) return shown;
  const parts = shown.split(new RegExp(`(${words.join('|')})`, 'giu'));
  return parts.map((part, index) =>
    index % 2 ? (
      <mark key={index} className="rounded-sm bg-amber-soft text-ink">
        {part}
      </mark>
    ) : (
      part
    ),
  );
}
