import { act, screen } from '@testing-library/react';
import { newEvent } from '@belay/protocol';
import { renderSession } from '@/testing/render-session';
import { logOf } from '@/testing/session-log';
import { Thinking } from './thinking';

it('says that the provider does not answer, until the model does', async () => {
  const retry = newEvent('server', 'retry', {
    args: { attempt: 2, seconds: 8, error: 'openai refused the connection.' },
    message: 'Retry',
  });
  const say = newEvent('agent', 'say', { args: { text: 'Hi.', calls: [] }, message: 'Hi.' });
  const { live } = await renderSession(<Thinking />, { events: logOf(retry) });
  await screen.findByText('Try 2 failed, the next one is after 8s: openai refused the connection.');
  act(() => {
    live.events(logOf(retry, say).slice(1));
  });
  await screen.findByText('The model is thinking…');
});
