import { fireEvent, screen } from '@testing-library/react';
import type { SessionAgent } from '@belay/protocol';
import { usePanelLinks } from '@/lib/panel-links';
import { renderSession } from '@/testing/render-session';
import { SessionHeader } from './session-header';
import { SignInBar } from './sign-in-bar';

const agent: SessionAgent = { name: 'other', version: '1.0.0', protocol: 'terminal' };
const show = (more: Partial<SessionAgent>, state: 'running' | 'finished' = 'running') =>
  renderSession(
    <>
      <SessionHeader />
      <SignInBar />
    </>,
    { summary: { state, agent: { ...agent, ...more } } },
  );

it('says that the sandbox holds a credential, and that nothing of the agent is seen', async () => {
  await show({ login: 'owner' });
  const bar = await screen.findByRole('region', { name: 'Your own sign-in' });
  expect(bar.textContent).toContain('this sandbox then holds your credential');
  expect(bar.textContent).toContain('does not see, count or hold what the agent sends');
  expect(screen.getByRole('banner').textContent).toContain('⚠ signed in');
  expect(screen.getByRole('banner').textContent).not.toMatch(/step|\$/);
  // Neither has a meaning here.
  for (const name of [/^Model/, /^Approvals/])
    expect(screen.queryByRole('button', { name })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Open terminal' }));
  expect(usePanelLinks.getState().terminal).toMatchObject({ name: 'agent' });
});

it.each([
  [{}, 'running'],
  [{ login: 'owner' }, 'finished'],
] as const)('is not shown with %j in the state %s', async (more, state) => {
  await show(more, state);
  await screen.findByText('other');
  expect(screen.queryByRole('region', { name: 'Your own sign-in' })).toBeNull();
});
