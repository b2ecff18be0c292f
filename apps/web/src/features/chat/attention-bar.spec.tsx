import { fireEvent, screen } from '@testing-library/react';
import { usePanelLinks } from '@/lib/panel-links';
import { renderSession } from '@/testing/render-session';
import { AttentionBar } from './attention-bar';

const attention = 'Codex waits in its terminal.';
const agent = (protocol: 'acp' | 'terminal') => ({ name: 'codex', version: '1.0.0', protocol });
const show = (protocol: 'acp' | 'terminal') =>
  renderSession(<AttentionBar />, {
    summary: { state: 'waiting', attention, agent: agent(protocol) },
  });

it('says why an agent waits, and opens its terminal', async () => {
  await show('terminal');
  await screen.findByText(attention);
  fireEvent.click(screen.getByRole('button', { name: 'Open terminal' }));
  expect(usePanelLinks.getState().terminal).toMatchObject({ name: 'agent' });
});

it('offers no terminal for an agent without one', async () => {
  await show('acp');
  await screen.findByText(attention);
  expect(screen.queryByRole('button')).toBeNull();
});
