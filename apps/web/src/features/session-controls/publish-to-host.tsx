import { useEffect, useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import {
  errorFrom,
  type PreparedPublish,
  type PublishAllowance,
  type PublishedChange,
  type SessionSummary,
} from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Choice } from '@/components/ui/choice';
import { Loading } from '@/components/ui/empty';
import { CheckField, Field, Input, TextArea } from '@/components/ui/field';
import { client } from '@/lib/server';
import { useSubmit } from '@/lib/use-submit';
import { PublishFiles } from './publish-files';
import { suggestedBranch } from './publish-request';

interface Target {
  url: string;
  base: string;
  branch: string;
}

interface PublishToHostProps {
  session: SessionSummary;
  onPublished(published: PublishedChange): void;
  onClose(): void;
}

/** Shows what would be pushed and where, and pushes exactly that. */
export function PublishToHost({ session, onPublished, onClose }: PublishToHostProps) {
  const { id } = session;
  const [first] = useState<Target>({ url: '', base: '', branch: suggestedBranch(session.title) });
  const [target, setTarget] = useState(first);
  // Follows `target` when a field loses focus.
  const [asked, setAsked] = useState(first);
  const [choice, setChoice] = useState<PublishChoice>(firstChoice);
  const { data, isFetching, refetch, drafted, fault } = usePrepared(session, asked);
  // The session was not cloned. Nothing was typed yet, so this is a hint instead of an error.
  const lacksRepository = asked === first && fault?.code === 'invalid_input';
  const message = choice.message ?? drafted.message;
  const opens = data?.pullRequests === true && choice.way === 'request';
  const isCurrent = JSON.stringify(asked) === JSON.stringify(target);
  const isAllowed = data?.refusals.every(({ needs }) => choice.allow.includes(needs));
  const isReady = isAllowed === true && isCurrent && message.trim() !== '';
  const { saving, onSubmit } = useSubmit(async () => {
    if (!isCurrent) setAsked(target);
    if (!data || !isReady) return 'again';
    const published = await client.sessions
      .publish(id, {
        ...bodyOf(asked),
        allow: [...choice.allow],
        id: data.id,
        message,
        pullRequest: opens ? { ...requestOf(message), draft: choice.draft } : null,
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
      {isFetching && <Loading what="the branch and the changes" />}
      {fault && <Fault message={fault.message} isHint={lacksRepository} />}
      {data && (
        <ChoiceFields
          prepared={data}
          drafted={drafted}
          choice={{ ...choice, message }}
          onChange={(change) => setChoice({ ...choice, ...change })}
        />
      )}
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex gap-2 border-t rounded-b-lg bg-panel px-4 py-3">
        <Button type="submit" look="solid" disabled={!isReady || saving}>
          {saving ? 'Pushing…' : opens ? 'Push and open' : 'Push'}
        </Button>
        <Button look="ghost" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

/** What would be pushed to the target, and a drafted commit message. */
function usePrepared({ id, lastSeq }: SessionSummary, target: Target) {
  const prepared = useQuery({
    queryKey: ['publish', id, lastSeq, target],
    queryFn: () => client.sessions.preparePublish(id, bodyOf(target)),
    retry: false,
    gcTime: 0,
  });
  const { data, isFetching } = useQuery({
    queryKey: ['publish-message', id, lastSeq],
    queryFn: () => client.sessions.draftMessage(id),
    enabled: prepared.isSuccess,
    retry: false,
    staleTime: Infinity,
  });
  const drafted = { message: data?.message ?? '', model: data?.model, isFetching };
  const fault = prepared.isError && !prepared.isFetching ? errorFrom(prepared.error) : null;
  return {
    // After an error, earlier data is no longer what would be pushed.
    data: prepared.isError ? undefined : prepared.data,
    isFetching: prepared.isFetching && !prepared.data,
    refetch: prepared.refetch,
    drafted,
    fault,
  };
}

function Fault({ message, isHint }: { message: string; isHint: boolean }) {
  return isHint ? (
    <p role="status" className="text-sm text-muted">
      {message}
    </p>
  ) : (
    <p role="alert" className="rounded-md bg-fail-soft px-3 py-2 text-sm">
      {message}
    </p>
  );
}

/** The user’s choices for the push. */
interface PublishChoice {
  /** Null until the user edits the drafted message. */
  message: string | null;
  allow: readonly PublishAllowance[];
  way: 'push' | 'request';
  draft: boolean;
}

const firstChoice: PublishChoice = { message: null, allow: [], way: 'request', draft: false };

interface ChoiceFieldsProps {
  prepared: PreparedPublish;
  drafted: ReturnType<typeof usePrepared>['drafted'];
  choice: PublishChoice;
  onChange(change: Partial<PublishChoice>): void;
}

function ChoiceFields({ prepared, drafted, choice, onChange }: ChoiceFieldsProps) {
  const { pullRequests, refusals, into, url } = prepared;
  const { message, allow, way, draft } = choice;
  const opens = way === 'request';
  return (
    <>
      <PublishFiles prepared={prepared} />
      <Field
        label="Commit message"
        hint={drafted.model ? `Drafted by ${drafted.model}.` : undefined}
      >
        <TextArea
          rows={3}
          className="font-mono text-xs"
          placeholder={drafted.isFetching ? 'Drafting a message…' : ''}
          value={message ?? ''}
          onChange={({ target }) => onChange({ message: target.value })}
        />
      </Field>
      <Refusals refusals={refusals} allow={allow} onChange={(next) => onChange({ allow: next })} />
      {pullRequests && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Choice
            label="What to do"
            value={way}
            options={waysOf(prepared)}
            onChange={(next) => onChange({ way: next })}
          />
          {opens && into !== url && (
            <p className="basis-full text-xs break-all text-muted">
              Into <span className="font-mono">{into}</span>, the cloned repository
            </p>
          )}
          {opens && (
            <CheckField value={draft} onChange={(next) => onChange({ draft: next })}>
              As a draft
            </CheckField>
          )}
        </div>
      )}
    </>
  );
}

interface TargetFieldsProps {
  target: Target;
  prepared: PreparedPublish | undefined;
  lacksRepository: boolean;
  onChange(target: Target): void;
  onDone(): void;
}

function TargetFields({ target, prepared, lacksRepository, onChange, onDone }: TargetFieldsProps) {
  const repository = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (lacksRepository) repository.current?.focus();
  }, [lacksRepository]);
  const field = (name: keyof Target) => ({
    value: target[name],
    spellCheck: false,
    className: 'font-mono text-xs',
    onChange: ({ target: { value } }: { target: { value: string } }) =>
      onChange({ ...target, [name]: value }),
    onBlur: onDone,
  });
  const isNew = prepared?.isNewBranch === true ? 'New branch' : undefined;
  return (
    <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
      <Field label="Repository" className="col-span-full">
        <Input
          ref={repository}
          placeholder={prepared?.url ?? 'https://github.com/owner/name'}
          {...field('url')}
        />
      </Field>
      <Field label="Branch" hint={isNew}>
        <Input required autoFocus {...field('branch')} />
      </Field>
      <Field label="Base branch" hint="Where the branch starts, and where the request is merged.">
        <Input placeholder={prepared?.base ?? 'the default branch'} {...field('base')} />
      </Field>
    </div>
  );
}

interface RefusalsProps {
  refusals: PreparedPublish['refusals'];
  allow: readonly PublishAllowance[];
  onChange(allow: PublishAllowance[]): void;
}

function Refusals({ refusals, allow, onChange }: RefusalsProps) {
  return refusals.map(({ needs, message }) => (
    <label key={needs} className="flex items-start gap-2 rounded-md bg-fail-soft px-3 py-2 text-sm">
      <input
        type="checkbox"
        checked={allow.includes(needs)}
        onChange={({ target: { checked } }) =>
          onChange(checked ? [...allow, needs] : allow.filter((one) => one !== needs))
        }
        className="mt-1 accent-[var(--amber)]"
      />
      <span>
        <span className="font-medium">{allowances[needs]}</span>
        <span className="block text-xs break-words text-muted">{message}</span>
      </span>
    </label>
  ));
}

const allowances: Record<PublishAllowance, string> = {
  'default-branch': 'Push to the default branch',
  'ci-files': 'Change what runs in CI',
};

const waysOf = ({ kind }: PreparedPublish) =>
  [
    { value: 'request', label: kind === 'gitlab' ? 'Merge request' : 'Pull request' },
    { value: 'push', label: 'Push only' },
  ] as const;

const bodyOf = ({ url, base, branch }: Target) => ({
  branch: branch.trim(),
  ...(url.trim() && { url: url.trim() }),
  ...(base.trim() && { base: base.trim() }),
});

function requestOf(message: string): { title: string; body: string } {
  const [title = '', ...body] = message.trim().split('\n');
  return { title: title.slice(0, 250), body: body.join('\n').trim() };
}
