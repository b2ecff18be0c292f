import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { toast, toastError, useToasts } from '@/lib/toasts';
import { renderWeb } from '@/testing/render-web';
import { Notices } from './notices';

beforeEach(() => useToasts.setState({ toasts: [], past: [] }));

it('lists the notices that ended', async () => {
  await renderWeb(<Notices />);
  expect(screen.queryByRole('button', { name: 'Notices' })).toBeNull();
  act(() => {
    toast('Saved.');
    toastError(new Error('It failed.'));
  });
  fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
  await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
  fireEvent.click(screen.getByRole('button', { name: 'Notices' }));
  const list = await screen.findByRole('dialog', { name: 'Notices' });
  expect(list.textContent).toMatch(/It failed\..*Saved\./);
});

it('offers the action of a notice once', async () => {
  await renderWeb(null);
  const undo = jest.fn();
  act(() => {
    toast('Archived.', { label: 'Undo', run: undo });
  });
  fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
  expect(undo).toHaveBeenCalledTimes(1);
  await waitFor(() => expect(screen.queryByText('Archived.')).toBeNull());
});
