import { useState } from 'react';
import { sessionPattern, type MadeToken, type NewToken, type Scope } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Choice } from '@/components/ui/choice';
import { Field, Input, Select } from '@/components/ui/field';
import { client } from '@/lib/server';
import { useSubmit } from '@/lib/use-submit';
import { scopeHints, scopes } from './scopes';

const day = 86_400_000;
const lives = { '1': '1 day', '7': '7 days', '30': '30 days', '365': '1 year', never: 'Never' };

interface NewTokenProps {
  onMade(token: MadeToken): Promise<void>;
  onCancel(): void;
}

/** The form of a new token. */
export function NewTokenForm({ onMade, onCancel }: NewTokenProps) {
  const [label, setLabel] = useState('');
  const [scope, setScope] = useState<Scope>('view');
  const [sessions, setSessions] = useState<'all' | 'own' | 'some'>('all');
  const [ids, setIds] = useState('');
  const [life, setLife] = useState<string>('30');
  const isAdmin = scope === 'admin';
  const wanted = (): NewToken => ({
    label,
    scope,
    sessions: isAdmin ? 'all' : sessions === 'some' ? idsOf(ids) : sessions,
    expires: life === 'never' ? null : new Date(Date.now() + Number(life) * day).toISOString(),
  });
  const { saving, onSubmit } = useSubmit(async () => onMade(await client.tokens.create(wanted())));
  return (
    <form
      aria-label="New token"
      className="space-y-4 rounded-md border bg-panel p-3"
      onSubmit={onSubmit}
    >
      <Field label="Label" hint="What will use it, such as “Release script”.">
        <Input
          autoFocus
          required
          maxLength={100}
          value={label}
          onChange={({ target }) => setLabel(target.value)}
        />
      </Field>
      <div>
        <p className="mb-1 text-sm font-medium">Scope</p>
        <Choice<Scope> label="Scope" value={scope} options={scopes} onChange={setScope} />
        <p className="mt-1 text-xs text-faint">{scopeHints[scope]}</p>
      </div>
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <Field label="Sessions" {...(isAdmin && { hint: 'An admin token is for all sessions.' })}>
          <Select
            disabled={isAdmin}
            value={isAdmin ? 'all' : sessions}
            onChange={({ target }) => setSessions(target.value as typeof sessions)}
          >
            <option value="all">All</option>
            <option value="own">Only those that it starts</option>
            <option value="some">Only these…</option>
          </Select>
        </Field>
        <Field label="Expires">
          <Select value={life} onChange={({ target }) => setLife(target.value)}>
            {Object.entries(lives).map(([value, text]) => (
              <option key={value} value={value}>
                {value === 'never' ? text : `In ${text}`}
              </option>
            ))}
          </Select>
        </Field>
      </div>
      {!isAdmin && sessions === 'some' && (
        <Field
          label="Session ids"
          hint="Separated by spaces; end one with * to match what begins so. A session’s id is in its URL."
        >
          <Input
            required
            className="font-mono text-xs"
            value={ids}
            onChange={({ target }) => {
              setIds(target.value);
              const bad = idsOf(target.value).find((id) => !sessionPattern.safeParse(id).success);
              target.setCustomValidity(bad ? `“${bad}” is not a session’s id.` : '');
            }}
          />
        </Field>
      )}
      <div className="flex gap-2">
        <Button type="submit" small look="solid" disabled={saving}>
          Create token
        </Button>
        <Button small look="ghost" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

const idsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);
