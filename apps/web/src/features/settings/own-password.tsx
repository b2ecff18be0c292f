import { useState } from 'react';
import { Button } from '@/components/ui/button';
import { Field, Input } from '@/components/ui/field';
import { client } from '@/lib/server';
import { useSubmit } from '@/lib/use-submit';

/** For a user who logged in with a password. The change logs out everywhere, so the page is loaded anew, which asks for it. */
export function OwnPassword({ user }: { user: string }) {
  const [password, setPassword] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const { saving, onSubmit } = useSubmit(async () => {
    await client.users.changePassword({ name: user, password, newPassword });
    window.location.assign('/');
  });
  return (
    <form aria-label="Password" className="space-y-3 py-3" onSubmit={onSubmit}>
      <p className="font-medium">Password</p>
      <input hidden readOnly type="text" autoComplete="username" value={user} />
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <Field label="Current password">
          <Input
            type="password"
            required
            maxLength={200}
            autoComplete="current-password"
            value={password}
            onChange={({ target }) => setPassword(target.value)}
          />
        </Field>
        <Field
          label="New password"
          hint="At least 10 characters. The change logs you out everywhere."
        >
          <Input
            type="password"
            required
            minLength={10}
            maxLength={200}
            autoComplete="new-password"
            value={newPassword}
            onChange={({ target }) => setNewPassword(target.value)}
          />
        </Field>
      </div>
      <Button type="submit" small disabled={saving}>
        Change password
      </Button>
    </form>
  );
}
