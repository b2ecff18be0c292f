import { queryOptions, useQuery } from '@tanstack/react-query';
import { visibleText, type PullRequestStatus, type SessionSummary } from '@belay/protocol';
import { clsx } from 'clsx';
import { GitPullRequest } from 'lucide-react';
import { client } from '@/lib/server';

/** How often a host is asked while a request is open and the page is visible. */
const everyMs = 60_000;

/** The pull request of a session as its host has it now. Ended ones are not asked for again. */
export const pullRequestQuery = (session: string, number: number) =>
  queryOptions({
    queryKey: ['pull-request', session, number],
    queryFn: async () => (await client.sessions.pullRequest(session)).pullRequest,
    staleTime: everyMs / 2,
    refetchInterval: ({ state: { data } }) =>
      data?.state === 'open' || data?.state === 'draft' ? everyMs : false,
    retry: false,
  });

interface PullRequestLinkProps {
  session: Pick<SessionSummary, 'id' | 'published'>;
  className?: string;
}

/** A link to the pull request of a session; nothing if there is none. */
export function PullRequestLink({ session, className }: PullRequestLinkProps) {
  const request = session.published?.pullRequest;
  if (!request) return null;
  return <RequestLink {...request} className={className} />;
}

/** Like `PullRequestLink`, with its state and checks, for which the host is asked. */
export function LivePullRequestLink({ session, className }: PullRequestLinkProps) {
  const request = session.published?.pullRequest;
  const { data } = useQuery({
    ...pullRequestQuery(session.id, request?.number ?? 0),
    enabled: request !== undefined && request !== null,
  });
  if (!request) return null;
  return <RequestLink {...request} status={data ?? undefined} className={className} />;
}

interface RequestLinkProps {
  url: string;
  number: number;
  status?: PullRequestStatus | undefined;
  className?: string | undefined;
}

function RequestLink({ url, number, status, className }: RequestLinkProps) {
  const words = status ? wordsOf(status) : '';
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      title={visibleText(status?.title ?? 'Open the pull request')}
      aria-label={`Pull request ${number}${words && `: ${words}`}`}
      className={clsx(
        'inline-flex shrink-0 items-center gap-1 text-xs text-muted hover:text-ink hover:underline',
        className,
      )}
    >
      <GitPullRequest size={12} aria-hidden />#{number}
      {status && <span className={status.checks === 'failed' ? 'text-fail' : ''}>{words}</span>}
    </a>
  );
}

const checksWords: Record<PullRequestStatus['checks'], string> = {
  none: '',
  running: 'checks running',
  passed: 'checks passed',
  failed: 'checks failed',
  unknown: 'checks unknown',
};

const wordsOf = ({ state, checks }: PullRequestStatus): string =>
  [state, checksWords[checks]].filter(Boolean).join(', ');
