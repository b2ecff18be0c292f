import { fireEvent, screen, waitFor } from '@testing-library/react';
import { renderSession } from '@/testing/render-session';
import { requests } from '@/testing/server';
import { TerminalPanel } from './terminal-panel';

describe('the terminal panel without a terminal', () => {
  beforeEach(() => requests.splice(0));

  it('opens one for the user before the agent has opened any', async () => {
    await renderSession(<TerminalPanel />);
    fireEvent.click(await screen.findByRole('button', { name: 'Open a terminal' }));
    await waitFor(() =>
      expect(requests).toEqual([
        { name: 'terminal.open', input: { session: 's', terminal: expect.any(String) } },
      ]),
    );
  });

  it.each<[string, Parameters<typeof renderSession>[1]]>([
    ['while the sandbox starts', { summary: { state: 'starting' } }],
    ['to a viewer', { role: 'viewer' }],
  ])('offers none %s', async (_, options) => {
    await renderSession(<TerminalPanel />, options);
    await screen.findByText('No terminal yet');
    expect(screen.queryByRole('button', { name: 'Open a terminal' })).toBeNull();
  });
});
