import { useState } from 'react';
import type { Scope } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Field, Input, Select } from '@/components/ui/field';
import { client } from '@/lib/server';
import { useSubmit } from '@/lib/use-submit';
import { scopeHints, scopeOptions } from './scopes';

/** The form of a new user. */
export function NewUserForm({ onMade, onCancel }: { onMade(): Promise<void>; onCancel(): void }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [scope, setScope] = useState<Scope>('operate');
  const { saving, onSubmit } = useSubmit(async () => {
    await client.users.create({ name, password, scope });
    await onMade();
  });
  return (
    <form
      aria-label="New user"
      className="space-y-3 rounded-md border bg-panel p-3"
      onSubmit={onSubmit}
    >
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <Field label="Name">
          <Input
            autoFocus
            required
            maxLength={100}
            autoCapitalize="none"
            autoComplete="off"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </Field>
        <Field label="Scope">
          <Select value={scope} onChange={({ target }) => setScope(target.value as Scope)}>
            {scopeOptions}
          </Select>
        </Field>
      </div>
      <p className="text-xs text-faint">{scopeHints[scope]}</p>
      <Field label="Password" hint="At least 10 characters. Pass it on to the user yourself.">
        <Input
          type="password"
          required
          minLength={10}
          maxLength={200}
          autoComplete="new-password"
          value={password}
          onChange={({ target }) => setPassword(target.value)}
        />
      </Field>
      <div className="flex gap-2">
        <Button type="submit" small look="solid" disabled={saving}>
          Add user
        </Button>
        <Button small look="ghost" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
