import { screen } from '@testing-library/react';
import type { SessionSummary } from '@belay/protocol';
import { renderSession } from '@/testing/render-session';
import { Thinking } from './thinking';

const show = (retryAt: string | null) => {
  const reason = 'openai refused the connection.';
  const summary: Partial<SessionSummary> = {
    state: 'waiting',
    reason,
    modelError: { message: reason, retryAt },
  };
  return renderSession(<Thinking />, { events: [], summary });
};

describe('a session whose model cannot be called now', () => {
  it('says why, and offers to try at once', async () => {
    await show(new Date().toISOString());
    await screen.findByText('openai refused the connection.');
    screen.getByRole('button', { name: 'Try now' });
    expect(screen.queryByRole('link')).toBeNull();
  });

  it('leads to the models and keys if it waits for its user', async () => {
    await show(null);
    const link = await screen.findByRole('link', { name: 'Models and keys' });
    expect(link.getAttribute('href')).toContain('section=models');
  });
});
