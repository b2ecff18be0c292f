import type { PreparedPublish, PublishAllowance } from '@belay/protocol';
import { Choice } from '@/components/ui/choice';
import { CheckField, Field, Input, TextArea } from '@/components/ui/field';
import type { PublishChoice, PublishTexts } from './publish-choice';
import { PublishFiles } from './publish-files';
import { ReproductionFields } from './reproduction-fields';
import type { DraftedCommit, TypedTarget } from './use-prepared';

interface ChoiceFieldsProps {
  prepared: PreparedPublish;
  drafted: DraftedCommit;
  choice: PublishChoice;
  texts: PublishTexts;
  /** Whether the push updates an open request, so that no other is opened. */
  updates: boolean;
  onChange(change: Partial<PublishChoice>): void;
}

export function ChoiceFields(props: ChoiceFieldsProps) {
  const { prepared, drafted, choice, texts, updates, onChange } = props;
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
          value={texts.message}
          onChange={({ target }) => onChange({ message: target.value })}
        />
      </Field>
      <AuthorFields author={texts.author} onChange={(author) => onChange({ author })} />
      <Refusals
        refusals={prepared.refusals}
        allow={choice.allow}
        onChange={(allow) => onChange({ allow })}
      />
      {prepared.pullRequests && !updates && <RequestFields {...props} />}
      <ReproductionFields
        typed={choice.reproduction}
        onChange={(reproduction) => onChange({ reproduction })}
      />
    </>
  );
}

interface AuthorFieldsProps {
  author: PublishTexts['author'];
  onChange(author: PublishTexts['author']): void;
}

/** The author of the commit; empty fields leave it to Belay. */
function AuthorFields({ author, onChange }: AuthorFieldsProps) {
  return (
    <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
      <Field label="Author">
        <Input
          autoComplete="name"
          placeholder="Belay"
          value={author.name}
          onChange={({ target }) => onChange({ ...author, name: target.value })}
        />
      </Field>
      <Field label="Author’s email">
        <Input
          autoComplete="email"
          placeholder="belay@localhost"
          value={author.email}
          onChange={({ target }) => onChange({ ...author, email: target.value })}
        />
      </Field>
    </div>
  );
}

function RequestFields({ prepared, choice, texts, onChange }: ChoiceFieldsProps) {
  const { into, url } = prepared;
  const opens = choice.way === 'request';
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Choice
          label="What to do"
          value={choice.way}
          options={waysOf(prepared)}
          onChange={(way) => onChange({ way })}
        />
        {opens && (
          <CheckField value={choice.draft} onChange={(draft) => onChange({ draft })}>
            As a draft
          </CheckField>
        )}
        {opens && into !== url && (
          <p className="basis-full text-xs break-all text-muted">
            Into <span className="font-mono">{into}</span>, the cloned repository
          </p>
        )}
      </div>
      {opens && (
        <>
          <Field label="Title">
            <Input
              required
              maxLength={250}
              value={texts.title}
              onChange={({ target }) => onChange({ title: target.value })}
            />
          </Field>
          <Field label="Description">
            <TextArea
              rows={3}
              value={texts.description}
              onChange={({ target }) => onChange({ description: target.value })}
            />
          </Field>
        </>
      )}
    </div>
  );
}

interface TargetFieldsProps {
  target: TypedTarget;
  prepared: PreparedPublish | undefined;
  lacksRepository: boolean;
  onChange(target: TypedTarget): void;
  onDone(): void;
}

export function TargetFields(props: TargetFieldsProps) {
  const { target, prepared, lacksRepository, onChange, onDone } = props;
  const field = (name: keyof TypedTarget) => ({
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
          autoFocus={lacksRepository}
          placeholder={prepared?.url ?? 'https://github.com/owner/name'}
          {...field('url')}
        />
      </Field>
      <Field label="Branch" hint={isNew}>
        <Input required autoFocus={!lacksRepository} {...field('branch')} />
      </Field>
      <Field
        label="Base branch"
        hint="Where the branch starts, and where the pull request is merged."
      >
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
        className="mt-1 accent-solid"
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
