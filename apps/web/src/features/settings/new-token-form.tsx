import { sessionPattern, type MadeToken, type NewToken, type Scope } from '@belay/protocol';
import { ChoiceField } from '@/components/ui/choice';
import { optionsOf, SelectField, TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { client } from '@/lib/server';
import { splitList } from '@/lib/split-list';
import { useForm } from '@/lib/use-form';
import { scopeHints, scopes } from './scopes';

const dayMs = 86_400_000;

/** Keys are numbers of days. */
const expiries = optionsOf({
  1: 'In 1 day',
  7: 'In 7 days',
  30: 'In 30 days',
  365: 'In 1 year',
  never: 'Never',
});

const sessionOptions = optionsOf({
  all: 'All',
  own: 'Only those that it starts',
  some: 'Only these…',
});

const emptyToken = {
  label: '',
  scope: 'view' as Scope,
  sessions: 'all' as (typeof sessionOptions)[number]['value'],
  ids: '',
  days: '30',
};

interface NewTokenProps {
  onMade(token: MadeToken): Promise<void>;
  onCancel(): void;
}

/** The form for a new token. */
export function NewTokenForm({ onMade, onCancel }: NewTokenProps) {
  const { values, bind } = useForm(emptyToken);
  const isAdmin = values.scope === 'admin';
  const sessions = isAdmin ? 'all' : values.sessions;
  return (
    <Form
      label="New token"
      className="rounded-md border bg-panel p-3"
      submit="Create token"
      onSubmit={async () => onMade(await client.tokens.create(tokenOf({ ...values, sessions })))}
      onCancel={onCancel}
    >
      <TextField
        label="Label"
        hint="What will use it, such as “Release script”."
        autoFocus
        required
        maxLength={100}
        {...bind('label')}
      />
      <ChoiceField
        label="Scope"
        hint={scopeHints[values.scope]}
        options={scopes}
        {...bind('scope')}
      />
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <SelectField
          label="Sessions"
          hint={isAdmin && 'An admin token is for all sessions.'}
          disabled={isAdmin}
          options={sessionOptions}
          {...bind('sessions')}
          value={sessions}
        />
        <SelectField label="Expires" options={expiries} {...bind('days')} />
      </div>
      {sessions === 'some' && (
        <TextField
          label="Session ids"
          hint="Separated by spaces; an id that ends with * matches all that begin with it. A session’s id is in its URL."
          required
          className="font-mono text-xs"
          check={faultOfIds}
          {...bind('ids')}
        />
      )}
    </Form>
  );
}

const tokenOf = ({ label, scope, sessions, ids, days }: typeof emptyToken): NewToken => ({
  label,
  scope,
  sessions: sessions === 'some' ? splitList(ids) : sessions,
  expires: days === 'never' ? null : new Date(Date.now() + Number(days) * dayMs).toISOString(),
});

function faultOfIds(text: string): string | undefined {
  const wrong = splitList(text).find((id) => !sessionPattern.safeParse(id).success);
  return wrong && `“${wrong}” is not a session id.`;
}
