import { ExternalLink } from 'lucide-react';
import type { PublishedChange } from '@belay/protocol';
import { RerunClaims } from '@/components/rerun-claims';
import { Button } from '@/components/ui/button';

interface PublishResultProps {
  session: string;
  published: PublishedChange;
  onClose(): void;
}

/** The result of a push, with a link to the branch or request. */
export function PublishResult({ session, published, onClose }: PublishResultProps) {
  const { commit, branch, url, branchPage, pullRequest, problem, reruns } = published;
  const page = pullRequest?.url ?? branchPage;
  return (
    <div className="space-y-4 text-sm">
      <p role="status">
        Pushed <code className="font-mono text-xs">{commit.slice(0, 7)}</code> to{' '}
        <code className="font-mono text-xs break-all">{branch}</code> of{' '}
        <span className="break-all text-muted">{url}</span>.
        {pullRequest && !pullRequest.isNew && ' The open pull request now includes it.'}
      </p>
      {reruns && <RerunClaims session={session} claims={reruns.claims} />}
      {problem !== null && (
        <p role="alert" className="rounded-md bg-fail-soft px-3 py-2">
          No pull request was opened: {problem}
        </p>
      )}
      <div className="flex items-center gap-2">
        {page && (
          <a
            href={page}
            target="_blank"
            rel="noreferrer"
            className="inline-flex h-8 items-center gap-1.5 rounded-md border border-solid bg-solid px-3 font-medium text-on-solid hover:opacity-90"
          >
            <ExternalLink size={14} aria-hidden />
            {pullRequest ? `Open pull request ${pullRequest.number}` : 'Open the branch'}
          </a>
        )}
        <Button look={page ? 'ghost' : 'plain'} onClick={onClose}>
          Close
        </Button>
      </div>
    </div>
  );
}
