import { useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ageText, type Scope, type UserInfo } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { Options, Select } from '@/components/ui/field';
import { attemptConfirmed } from '@/lib/ask';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { NewUserForm } from './new-user-form';
import { scopes } from './scopes';

const usersKey = ['users'];
/** The users of a team. A server without users belongs to its owner. */
export function UserSettings() {
  const users = useQuery({ queryKey: usersKey, queryFn: () => client.users.list() });
  const cache = useQueryClient();
  const refresh = () => cache.invalidateQueries({ queryKey: usersKey });
  const [adding, setAdding] = useState(false);
  const remove = ({ id, name }: UserInfo) => {
    const title = `Remove ${name}?`;
    const text = 'All connections of this user are closed at once. Sessions are kept.';
    const work = async () => {
      await client.users.remove(id);
      await refresh();
    };
    attemptConfirmed({ title, text, verb: 'Remove user', danger: true }, work, 'User removed.');
  };
  const change = (user: UserInfo, scope: Scope) =>
    attempt(async () => {
      await client.users.change(user.id, { scope });
      await refresh();
    }, `${user.name} must log in again.`);
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">
        Team members log in with a name and a password, or through your identity provider if the
        server is set up with one. Without users, this server is yours alone.
      </p>
      <QueryState query={users} what="the users" />
      {users.data?.length === 0 && !adding && (
        <Empty title="No users">Add one for each colleague who works with these sessions.</Empty>
      )}
      <ul aria-label="Users" className="divide-y rounded-md border bg-panel empty:hidden">
        {users.data?.map((user) => (
          <li
            key={user.id}
            className="flex items-center justify-between gap-x-4 gap-y-2 px-3 py-2 max-sm:flex-wrap"
          >
            <div className="min-w-0 max-sm:w-full">
              <p className="truncate text-sm font-medium">{user.name}</p>
              <p className="text-xs text-faint">
                {user.logsInBy === 'oidc' ? 'identity provider' : 'password'} ·{' '}
                {user.lastLogin ? `logged in ${ageText(user.lastLogin)} ago` : 'never logged in'}
              </p>
            </div>
            <div className="flex shrink-0 items-center gap-2">
              <Select
                aria-label={`Scope of ${user.name}`}
                title={user.logsInBy === 'oidc' ? 'Set by the identity provider' : undefined}
                className="h-6 w-28 text-xs max-md:h-8"
                disabled={user.logsInBy === 'oidc'}
                value={user.scope}
                onChange={({ target }) => change(user, target.value as Scope)}
              >
                <Options of={scopes} />
              </Select>
              <Button
                small
                look="danger"
                aria-label={`Remove ${user.name}`}
                onClick={() => remove(user)}
              >
                Remove
              </Button>
            </div>
          </li>
        ))}
      </ul>
      {adding ? (
        <NewUserForm
          onMade={async () => {
            setAdding(false);
            await refresh();
          }}
          onCancel={() => setAdding(false)}
        />
      ) : (
        <Button onClick={() => setAdding(true)}>Add user</Button>
      )}
    </div>
  );
}
