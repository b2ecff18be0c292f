import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { automationTag, type SessionSummary } from '@belay/protocol';
import { VisibleText } from '@/components/ui/visible-text';
import { client, recorded } from '@/lib/server';

/** Which automation began a session, and for what; nothing for a session that a user began. */
export function BegunBy({ session: { id, tags } }: { session: SessionSummary }) {
  const isTagged = tags.some((tag) => tag.startsWith(automationTag));
  const { data } = useQuery({
    queryKey: ['session-automation', id],
    queryFn: () => client.automations.ofSession(id),
    enabled: isTagged && !recorded,
    staleTime: Infinity,
    retry: false,
  });
  if (!data) return null;
  const { automation, id: run, subject } = data.run;
  return (
    <Link
      to="/automations/$name/runs/$run"
      params={{ name: automation, run }}
      className="max-w-72 truncate text-xs hover:text-ink hover:underline max-lg:hidden"
      title="Why this session began"
    >
      by {automation} for <VisibleText text={subject} />
    </Link>
  );
}
