import { fireEvent, screen, waitFor } from '@testing-library/react';
import { AppError } from '@belay/protocol';
import { renderWeb } from '@/testing/render-web';
import { GeneralSettings } from './general-settings';

const me = (hasPassword: boolean) => ({
  role: 'user' as const,
  scope: 'operate' as const,
  label: 'ada',
  sessions: 'all' as const,
  expires: null,
  hasPassword,
});
const type = (label: RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });

/** Renders the page with a server that accepts `right` as the current password. */
const show = (hasPassword = true) =>
  renderWeb(<GeneralSettings />, {
    replies: {
      server: { me: () => me(hasPassword) },
      users: {
        changePassword: ({ body }) => {
          if (body.password !== 'right')
            throw new AppError('forbidden', 'The name or the current password is wrong.');
        },
      },
    },
  });

describe('a user’s own password', () => {
  it('can be changed with the current one, and a refusal keeps the input', async () => {
    const { rest } = await show();
    await screen.findByRole('form', { name: 'Password' });
    const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Change password' });
    type(/^Current password/, 'wrong');
    type(/^New password/, 'correct horse battery');
    fireEvent.click(button);
    await screen.findByText('The name or the current password is wrong.');
    await waitFor(() => expect(button.disabled).toBe(false));
    expect(screen.getByLabelText<HTMLInputElement>(/^New password/).value).toBe(
      'correct horse battery',
    );
    type(/^Current password/, 'right');
    fireEvent.click(button);
    await waitFor(() => expect(rest.bodiesOf('users.changePassword')).toHaveLength(2));
    expect(rest.bodiesOf('users.changePassword')[1]).toEqual({
      name: 'ada',
      password: 'right',
      newPassword: 'correct horse battery',
    });
    // Every login ends, including this one, and the page reloads.
    expect(button.disabled).toBe(true);
  });

  it('is masked, supports password managers, and has a minimum length', async () => {
    await show();
    await screen.findByRole('form', { name: 'Password' });
    const field = (label: RegExp) => screen.getByLabelText<HTMLInputElement>(label);
    expect(field(/^Current password/)).toMatchObject({
      type: 'password',
      autocomplete: 'current-password',
      required: true,
    });
    expect(field(/^New password/)).toMatchObject({
      type: 'password',
      autocomplete: 'new-password',
      required: true,
      minLength: 10,
      maxLength: 200,
    });
  });

  it('is not offered to a user without one', async () => {
    await show(false);
    await screen.findByText(/Theme/);
    expect(screen.queryByRole('form', { name: 'Password' })).toBeNull();
  });
});
