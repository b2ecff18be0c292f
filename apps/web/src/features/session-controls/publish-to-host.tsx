import { clsx } from 'clsx';
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
import { Field, Input, TextArea } from '@/components/ui/field';
import { client } from '@/lib/server';
import { toastError } from '@/lib/toasts';
import { PublishFiles } from './publish-files';
import { suggestedBranch } from './publish-request';

type Way = 'push' | 'request';

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

/** Shows what would be pushed and where to, and pushes exactly that. */
export function PublishToHost({ session, onPublished, onClose }: PublishToHostProps) {
  const { id } = session;
  const [first] = useState<Target>({ url: '', base: '', branch: suggestedBranch(session.title) });
  const [target, setTarget] = useState(first);
  // What was typed counts once the field is left.
  const [asked, setAsked] = useState(first);
  const prepared = useQuery({
    queryKey: ['publish', id, session.lastSeq, asked],
    queryFn: () => client.sessions.preparePublish(id, bodyOf(asked)),
    retry: false,
    gcTime: 0,
  });
  const drafted = useQuery({
    queryKey: ['publish-message', id, session.lastSeq],
    queryFn: () => client.sessions.draftMessage(id),
    enabled: prepared.isSuccess,
    retry: false,
    staleTime: Infinity,
  });
  const [typed, setTyped] = useState<string | null>(null);
  const message = typed ?? drafted.data?.message ?? '';
  const [allow, setAllow] = useState<readonly PublishAllowance[]>([]);
  const [way, setWay] = useState<Way>('request');
  const [draft, setDraft] = useState(false);
  const [working, setWorking] = useState(false);
  const { data } = prepared;
  const fault = prepared.isError && !prepared.isFetching ? errorFrom(prepared.error) : null;
  // Nothing was typed yet: the session was not cloned, and the user has done nothing wrong.
  const lacksRepository = asked === first && fault?.code === 'invalid_input';
  const isCurrent = JSON.stringify(asked) === JSON.stringify(target);
  const opens = data?.pullRequests === true && way === 'request';
  const isAllowed = data?.refusals.every(({ needs }) => allow.includes(needs)) === true;
  const isReady = isAllowed && isCurrent && message.trim() !== '' && !working;
  const publish = async () => {
    if (!data) return;
    setWorking(true);
    try {
      const published = await client.sessions.publish(id, {
        ...bodyOf(asked),
        allow: [...allow],
        id: data.id,
        message,
        pullRequest: opens ? { ...requestOf(message), draft } : null,
      });
      onPublished(published);
    } catch (error) {
      setWorking(false);
      toastError(error);
      if (errorFrom(error).code === 'conflict') void prepared.refetch();
    }
  };
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isCurrent) setAsked(target);
        else if (isReady) void publish();
      }}
    >
      <TargetFields
        target={target}
        prepared={data}
        lacksRepository={lacksRepository}
        onChange={setTarget}
        onDone={() => setAsked(target)}
      />
      {prepared.isFetching && !data && <Loading what="the branch and the changes" />}
      {fault && (
        <p
          role={lacksRepository ? 'status' : 'alert'}
          className={clsx(
            'text-sm',
            lacksRepository ? 'text-muted' : 'rounded-md bg-fail-soft px-3 py-2',
          )}
        >
          {fault.message}
        </p>
      )}
      {data && !prepared.isError && (
        <>
          <PublishFiles prepared={data} />
          <Field
            label="Commit message"
            hint={drafted.data?.model ? `Drafted by ${drafted.data.model}.` : undefined}
          >
            <TextArea
              rows={3}
              className="font-mono text-xs"
              placeholder={drafted.isFetching ? 'A message is being drafted…' : ''}
              value={message}
              onChange={({ target: { value } }) => setTyped(value)}
            />
          </Field>
          <Refusals refusals={data.refusals} allow={allow} onChange={setAllow} />
          {data.pullRequests && (
            <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
              <Choice<Way>
                label="What to do"
                value={way}
                options={waysOf(data)}
                onChange={setWay}
              />
              {opens && data.into !== data.url && (
                <p className="basis-full text-xs break-all text-muted">
                  Into <span className="font-mono">{data.into}</span>, which was cloned
                </p>
              )}
              {opens && (
                <label className="flex items-center gap-2 text-sm">
                  <input
                    type="checkbox"
                    checked={draft}
                    onChange={({ target: { checked } }) => setDraft(checked)}
                    className="accent-[var(--amber)]"
                  />
                  As a draft
                </label>
              )}
            </div>
          )}
        </>
      )}
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex gap-2 border-t rounded-b-lg bg-panel px-4 py-3">
        <Button type="submit" look="solid" disabled={!isReady}>
          {working ? 'Pushing…' : opens ? 'Push and open' : 'Push'}
        </Button>
        <Button look="ghost" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
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
  const isNew = prepared?.isNewBranch === true ? 'It is new.' : undefined;
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
      <Field label="Base branch" hint="What it begins from, and a request goes into.">
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
