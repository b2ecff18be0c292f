import { TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { client } from '@/lib/server';
import { useForm } from '@/lib/use-form';

/**
 * For users who log in with a password. A change logs them out everywhere, so it reloads the page,
 * which asks for the new password.
 */
export function OwnPassword({ user }: { user: string }) {
  const { values, bind } = useForm({ password: '', newPassword: '' });
  const change = async () => {
    await client.users.changePassword({ name: user, ...values });
    window.location.assign('/');
  };
  return (
    <Form label="Password" className="py-3" submit="Change password" onSubmit={change}>
      <p className="font-medium">Password</p>
      <input hidden readOnly type="text" autoComplete="username" value={user} />
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <TextField
          label="Current password"
          type="password"
          required
          maxLength={200}
          autoComplete="current-password"
          {...bind('password')}
        />
        <TextField
          label="New password"
          hint="At least 10 characters. The change logs you out everywhere."
          type="password"
          required
          minLength={10}
          maxLength={200}
          autoComplete="new-password"
          {...bind('newPassword')}
        />
      </div>
    </Form>
  );
}
