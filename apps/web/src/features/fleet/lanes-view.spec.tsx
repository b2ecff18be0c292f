import { fireEvent, screen, within } from '@testing-library/react';
import { usePreferences } from '@/lib/preferences';
import { renderWeb } from '@/testing/render-web';
import { summaryWith } from '@/testing/session-log';
import { FleetBoard } from './fleet-board';
import { LanesView } from './lanes-view';

const at = (hour: number) => `2026-01-01T0${hour}:00:00Z`;
const asks = { state: 'waiting' as const, question: 'Which?', options: ['this'] };
const sessions = [
  summaryWith({ id: 'q', title: 'In the queue', state: 'starting', reason: '1 before it' }),
  summaryWith({ id: 'w', title: 'Works', current: 'terminal.run npm test' }),
  summaryWith({ id: 'p', title: 'Pauses', state: 'paused', updated: at(1) }),
  summaryWith({ id: 'l', title: 'Asks late', ...asks, updated: at(9) }),
  summaryWith({ id: 'e', title: 'Asks early', ...asks, updated: at(3) }),
  summaryWith({ id: 'f', title: 'Has finished', state: 'finished', comparison: 'c' }),
  summaryWith({ id: 's', title: 'Was stopped', state: 'stopped' }),
  summaryWith({ id: 'a', title: 'Is archived', state: 'finished', archived: true }),
];
const lane = (name: RegExp) => within(screen.getByRole('region', { name }));
const titlesIn = (name: RegExp) =>
  lane(name)
    .getAllByRole('article')
    .map((card) => card.getAttribute('aria-label'));

describe('the board', () => {
  it('has a lane for each stage, with the longest wait first', async () => {
    await renderWeb(<LanesView sessions={sessions} filter={{}} />);
    expect(titlesIn(/^Queued 1/)).toEqual(['In the queue']);
    expect(titlesIn(/^Working 2/)).toEqual(['Pauses', 'Works']);
    expect(titlesIn(/^Needs you 2/)).toEqual(['Asks early', 'Asks late']);
    expect(titlesIn(/^Review 1/)).toEqual(['Has finished']);
    expect(new Set(titlesIn(/^Done 2/))).toEqual(new Set(['Is archived', 'Was stopped']));
    expect(lane(/^Needs you/).getAllByRole('button', { name: 'this' })).toHaveLength(2);
    lane(/^Review/).getByRole('link', { name: 'Compare' });
  });

  it('supports navigation with the arrow keys', async () => {
    await renderWeb(<LanesView sessions={sessions} filter={{}} />);
    const press = (key: string) => fireEvent.keyDown(document.activeElement as Element, { key });
    const focused = () => document.activeElement?.textContent;
    screen.getByRole('link', { name: 'Asks early' }).focus();
    press('ArrowDown');
    expect(focused()).toBe('Asks late');
    press('ArrowRight');
    expect(focused()).toBe('Has finished');
    press('ArrowLeft');
    expect(focused()).toBe('Asks early');
    press('ArrowUp');
    expect(focused()).toBe('Asks early');
    press('ArrowLeft');
    expect(focused()).toBe('Pauses');
  });

  it('archives a reviewed session and filters by text', async () => {
    const replies = { sessions: { change: () => summaryWith() } };
    const { rest } = await renderWeb(<LanesView sessions={sessions} filter={{ q: 'finished' }} />, {
      replies,
    });
    expect(screen.getAllByRole('article')).toHaveLength(1);
    lane(/^Queued 0/).getByText(/waiting for a free sandbox/);
    fireEvent.click(screen.getByRole('button', { name: 'Archive Has finished' }));
    await screen.findByText('Archived.');
    expect(rest.bodiesOf('sessions.change')).toEqual([{ archived: true }]);
  });

  it('remembers the choice of the board', async () => {
    const none = new Set<string>();
    const nothing = () => undefined;
    await renderWeb(
      <FleetBoard
        sessions={sessions}
        filter={{}}
        picked={none}
        onPick={nothing}
        onPickOnly={nothing}
      />,
    );
    expect(screen.queryByRole('group', { name: 'Board of sessions' })).toBeNull();
    fireEvent.click(screen.getByRole('radio', { name: 'Board' }));
    await screen.findByRole('group', { name: 'Board of sessions' });
    expect(screen.queryByRole('combobox', { name: 'Sort' })).toBeNull();
    expect(usePreferences.getState().board).toBe(true);
  });
});
