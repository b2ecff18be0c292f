import { useQuery } from '@tanstack/react-query';
import { Failed } from '@/components/ui/empty';
import { useSessionId } from '@/features/session-log/session-context';
import { client } from '@/lib/server';

/** The console messages of the page. */
export function BrowserConsole({ step }: { step: number }) {
  const session = useSessionId();
  const found = useQuery({
    queryKey: ['console', session, step],
    queryFn: () => client.sessions.call(session, 'browser.console', {}),
    refetchInterval: 5_000,
    retry: 0,
  });
  return (
    <section
      aria-label="Console"
      tabIndex={0}
      className="h-28 shrink-0 overflow-y-auto border-t font-mono text-xs"
    >
      {found.isError && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.data?.messages.length === 0 && <p className="p-2 text-faint">No console messages</p>}
      {found.data?.messages.map(({ level, text }, index) => (
        <p
          key={index}
          className={`border-b px-2 py-0.5 break-words ${/error/.test(level) ? 'text-fail' : 'text-muted'}`}
        >
          <span className="text-faint">{level}</span> {text}
        </p>
      ))}
    </section>
  );
}
