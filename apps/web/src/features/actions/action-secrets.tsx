import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { InstalledAction } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Input } from '@/components/ui/field';
import { actionsQuery } from '@/lib/queries';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

/** The secrets that an action declares. Their values can be set, but are never shown. */
export function ActionSecrets({ action }: { action: InstalledAction }) {
  return (
    <ul className="divide-y rounded-md border bg-panel">
      {action.manifest.permissions.secrets.map((key) => (
        <Secret
          key={key}
          name={action.name}
          secret={key}
          isSet={!action.missingSecrets.includes(key)}
          isOptional={action.manifest.permissions.optional_secrets?.includes(key) ?? false}
        />
      ))}
    </ul>
  );
}

interface SecretProps {
  name: string;
  secret: string;
  isSet: boolean;
  isOptional: boolean;
}

function Secret({ name, secret, isSet, isOptional }: SecretProps) {
  const readOnly = useReadOnlySettings();
  const queries = useQueryClient();
  const [value, setValue] = useState('');
  const change = (work: () => Promise<unknown>, done: string) =>
    attempt(async () => {
      await work();
      setValue('');
      await queries.invalidateQueries(actionsQuery);
    }, done);
  return (
    <li className="flex flex-wrap items-center gap-2 p-3">
      <span className="min-w-0 flex-1 truncate font-mono text-sm">{secret}</span>
      <span className={`text-sm ${isSet ? 'text-pass' : 'text-muted'}`}>
        {isSet ? 'set' : isOptional ? 'optional' : 'not set'}
      </span>
      {!readOnly && (
        <form
          className="flex gap-2 max-sm:w-full"
          onSubmit={(event) => {
            event.preventDefault();
            change(() => client.actions.setSecret(name, secret, { value }), `Saved ${secret}.`);
          }}
        >
          <Input
            type="password"
            autoComplete="off"
            aria-label={secret}
            placeholder={isSet ? 'New value' : 'Value'}
            value={value}
            onChange={({ target }) => setValue(target.value)}
            className="w-48 max-sm:flex-1"
          />
          <Button type="submit" disabled={value === ''}>
            Save
          </Button>
          {isSet && (
            <Button
              look="danger"
              onClick={() =>
                change(() => client.actions.removeSecret(name, secret), `Removed ${secret}.`)
              }
            >
              Remove
            </Button>
          )}
        </form>
      )}
    </li>
  );
}
