import { screen } from '@testing-library/react';
import { newEvent, type ErrorCode, type NewEvent } from '@belay/protocol';
import { renderSession } from '@/testing/render-session';
import { logOf } from '@/testing/session-log';
import { EndedBar } from './ended-bar';

const failedBy = (code: ErrorCode): NewEvent[] => [
  newEvent('agent', 'error', { args: { code, message: 'No.' }, message: 'No.' }),
  newEvent('server', 'state', { args: { state: 'failed', reason: 'No.' }, message: 'Failed' }),
];
const show = (events: NewEvent[]) =>
  renderSession(<EndedBar />, {
    events: logOf(...events),
    summary: { state: 'failed', reason: 'openai answered 401. Set another key, then write.' },
  });

it('says what to do once, and leads to the models if they are the cause', async () => {
  await show(failedBy('model_failed'));
  const bar = await screen.findByText(/openai answered 401/);
  expect(bar.textContent).toBe(
    'openai answered 401. Set another key, then write. Its log and files are kept.',
  );
  const link = screen.getByRole('link', { name: 'Models and keys' });
  expect(link.getAttribute('href')).toContain('section=models');
});

it('leads nowhere for another cause', async () => {
  await show([...failedBy('model_failed'), ...failedBy('internal')]);
  await screen.findByText(/openai answered 401/);
  expect(screen.queryByRole('link')).toBeNull();
});
