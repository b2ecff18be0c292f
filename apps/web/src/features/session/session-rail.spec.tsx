import { fireEvent, screen, within } from '@testing-library/react';
import { usePreferences } from '@/lib/preferences';
import { renderSession } from '@/testing/render-session';
import { summaryWith } from '@/testing/session-log';
import { SessionRail } from './session-rail';

const at = (hour: number) => `2026-01-01T${String(hour).padStart(2, '0')}:00:00Z`;
const sessions = [
  summaryWith({ id: 's', title: 'This one' }),
  summaryWith({ id: 'late', title: 'Asks late', state: 'waiting', question: '?', updated: at(9) }),
  summaryWith({
    id: 'early',
    title: 'Asks early',
    state: 'waiting',
    question: '?',
    updated: at(8),
  }),
  summaryWith({ id: 'done', title: 'Done', state: 'finished' }),
  summaryWith({ id: 'gone', title: 'Gone', archived: true }),
];

const show = (list = sessions) =>
  renderSession(<SessionRail />, { replies: { sessions: { list: () => list } } });

describe('the session rail', () => {
  it('shows the sessions, longest wait first, with a badge', async () => {
    await show();
    const rail = within(await screen.findByRole('navigation', { name: 'Sessions' }));
    const names = rail.getAllByRole('link').map((link) => link.getAttribute('aria-label'));
    expect(names).toEqual([
      'Asks early, waiting for you',
      'Asks late, waiting for you',
      'This one, running',
      'Done, finished',
    ]);
    expect(rail.getByRole('link', { current: 'page' }).title).toBe('This one (running)');
  });

  it('shows their titles when expanded', async () => {
    await show();
    const early = await screen.findByRole('link', { name: /^Asks early/ });
    expect(early.textContent).toBe('!');
    fireEvent.click(screen.getByRole('button', { name: 'Show sessions' }));
    await screen.findByText('Asks early');
    expect(usePreferences.getState().rail).toBe(true);
  });

  it('is hidden when there is only one session', async () => {
    const { rest } = await show(sessions.slice(0, 1));
    expect(rest.sentTo('sessions.list').length).toBeGreaterThan(0);
    expect(screen.queryByRole('navigation')).toBeNull();
  });
});
