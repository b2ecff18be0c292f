import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { errorFrom, type PublishedChange, type SessionSummary } from '@belay/protocol';
import { pullRequestQuery } from '@/components/pull-request-link';
import { Button } from '@/components/ui/button';
import { Loading } from '@/components/ui/empty';
import { client } from '@/lib/server';
import { useSubmit } from '@/lib/use-submit';
import {
  firstChoice,
  publishTexts,
  reproductionIn,
  useAuthor,
  type PublishTexts,
} from './publish-choice';
import { ChoiceFields, TargetFields } from './publish-fields';
import { suggestedBranch } from './publish-request';
import { bodyOf, hasTarget, usePrepared, type TypedTarget } from './use-prepared';

interface PublishToHostProps {
  session: SessionSummary;
  onPublished(published: PublishedChange): void;
  onClose(): void;
}

/** Shows what would be pushed and where, and pushes exactly that. */
export function PublishToHost({ session, onPublished, onClose }: PublishToHostProps) {
  const { id } = session;
  const [first] = useState<TypedTarget>(() => firstTarget(session));
  const [target, setTarget] = useState(first);
  // Follows `target` when a field loses focus.
  const [asked, setAsked] = useState(first);
  const [choice, setChoice] = useState(firstChoice);
  const { data, isFetching, refetch, drafted, fault } = usePrepared(session, asked);
  const request = useOpenRequest(session, asked);
  const lacksRepository = !hasTarget(session, asked);
  const texts = publishTexts(choice, drafted.message, data);
  const opens = data?.pullRequests === true && choice.way === 'request' && !request;
  const isCurrent = JSON.stringify(asked) === JSON.stringify(target);
  const isAllowed = data?.refusals.every(({ needs }) => choice.allow.includes(needs));
  const isReady = isAllowed === true && isCurrent && texts.message.trim() !== '';
  const reproduction = reproductionIn(choice.reproduction);
  const { saving, onSubmit } = useSubmit(async () => {
    if (!isCurrent) setAsked(target);
    if (!data || !isReady) return 'again';
    if (choice.author) useAuthor.setState({ author: authorIn(texts) });
    const published = await client.sessions
      .publish(id, {
        ...bodyOf(asked),
        allow: [...choice.allow],
        id: data.id,
        message: texts.message,
        author: authorIn(texts) ?? undefined,
        pullRequest: opens
          ? { title: texts.title, body: texts.description, draft: choice.draft }
          : null,
        reproduction: reproduction ?? undefined,
      })
      .catch((error: unknown) => {
        if (errorFrom(error).code === 'conflict') void refetch();
        throw error;
      });
    return onPublished(published);
  });
  return (
    <form className="space-y-4" onSubmit={onSubmit}>
      <TargetFields
        target={target}
        prepared={data}
        lacksRepository={lacksRepository}
        onChange={setTarget}
        onDone={() => setAsked(target)}
      />
      {request && <RequestNote {...request} />}
      {isFetching && <Loading what="the branch and the changes" />}
      {lacksRepository && (
        <p role="status" className="text-sm text-muted">
          This session was not cloned from a repository. Give the address of the one to publish to.
        </p>
      )}
      {fault && (
        <p role="alert" className="rounded-md bg-fail-soft px-3 py-2 text-sm">
          {fault.message}
        </p>
      )}
      {data && (
        <ChoiceFields
          prepared={data}
          drafted={drafted}
          choice={choice}
          texts={texts}
          updates={request !== undefined}
          onChange={(change) => setChoice({ ...choice, ...change })}
        />
      )}
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex gap-2 border-t rounded-b-lg bg-panel px-4 py-3">
        <Button type="submit" look="solid" disabled={!isReady || saving}>
          {saving ? (reproduction ? 'Running the test…' : 'Pushing…') : verbOf(request, opens)}
        </Button>
        <Button look="ghost" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

function RequestNote({ url, number }: OpenRequest) {
  return (
    <p role="status" className="text-sm text-muted">
      The branch belongs to{' '}
      <a href={url} target="_blank" rel="noreferrer" className="underline">
        pull request {number}
      </a>
      , which gets the new commit.
    </p>
  );
}

function verbOf(request: OpenRequest | undefined, opens: boolean): string {
  if (request) return `Update request ${request.number}`;
  return opens ? 'Push and open' : 'Push';
}

type OpenRequest = NonNullable<NonNullable<SessionSummary['published']>['pullRequest']>;

/** A session that was published goes to the same branch again. */
function firstTarget({ title, published }: SessionSummary): TypedTarget {
  if (!published) return { url: '', base: '', branch: suggestedBranch(title) };
  const { url, base, branch } = published;
  return { url, base, branch };
}

/** The open request of the branch; undefined if the branch has none, or it was merged or closed. */
function useOpenRequest({ id, published }: SessionSummary, { url, branch }: TypedTarget) {
  const isSame = published?.url === url.trim() && published.branch === branch.trim();
  const request = (isSame && published.pullRequest) || undefined;
  const { data } = useQuery({
    ...pullRequestQuery(id, request?.number ?? 0),
    enabled: request !== undefined,
  });
  const hasEnded = data?.state === 'merged' || data?.state === 'closed';
  return hasEnded ? undefined : request;
}

/** Null unless both parts are given. */
function authorIn({ author }: PublishTexts) {
  const [name, email] = [author.name.trim(), author.email.trim()];
  return name && email ? { name, email } : null;
}
