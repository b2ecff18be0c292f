import { screen } from '@testing-library/react';
import { renderSession } from '@/testing/render-session';
import { EndedBar } from './ended-bar';

const show = (reason: string | null) =>
  renderSession(<EndedBar />, { events: [], summary: { state: 'failed', reason } });

it('says what to do once', async () => {
  const reason = 'The script has no further replies. Add some, then write.';
  await show(reason);
  const bar = await screen.findByText(/no further replies/);
  expect(bar.closest('span')?.textContent).toContain(`${reason} Its log and files are kept.`);
});

it('says what to do if there is no reason', async () => {
  await show(null);
  await screen.findByText('Send a message to continue.', { exact: false });
});
