import { fireEvent, screen } from '@testing-library/react';
import { newEvent, type PullRequestStatus, type SessionState } from '@belay/protocol';
import { ForkDialog } from '@/features/session-controls/fork-dialog';
import { lookAt, useSessionContext } from '@/features/session-log/session-context';
import { renderSession } from '@/testing/render-session';
import { logOf } from '@/testing/session-log';
import { SessionHeader } from './session-header';

function Page() {
  const context = useSessionContext();
  return (
    <>
      <SessionHeader />
      <button onClick={() => lookAt(context, 2)}>Event 2</button>
      <ForkDialog />
    </>
  );
}

const request = {
  url: 'https://git.example.com/a/b/pulls/5',
  number: 5,
  into: 'https://git.example.com/a/b',
};
const published = {
  url: request.into,
  branch: 'x',
  base: 'main',
  commit: 'c'.repeat(40),
  pullRequest: request,
};

const sent = (text: string) => newEvent('user', 'message', { args: { text }, message: text });

it('forks from the moment that is displayed', async () => {
  await renderSession(<Page />, {
    events: logOf(sent('first'), sent('second'), sent('third')),
    replies: { models: { list: () => [] } },
  });
  const fork = await screen.findByRole('button', { name: 'Fork from here' });
  fireEvent.click(fork);
  await screen.findByRole('dialog', { name: 'Fork from event 3' });
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  fireEvent.click(screen.getByRole('button', { name: 'Event 2' }));
  fireEvent.click(fork);
  await screen.findByRole('dialog', { name: 'Fork from event 2' });
});

it('links to the pull request, with its state and checks', async () => {
  const status = { url: request.url, number: 5, title: 'Fix it', state: 'open', checks: 'failed' };
  await renderSession(<SessionHeader />, {
    summary: { published },
    replies: { sessions: { pullRequest: () => ({ pullRequest: status as PullRequestStatus }) } },
  });
  const link = await screen.findByRole('link', { name: 'Pull request 5: open, checks failed' });
  expect(link.getAttribute('href')).toBe(request.url);
});

it('links to the pull request without asking the host for a viewer', async () => {
  const { rest } = await renderSession(<SessionHeader />, {
    role: 'viewer',
    summary: { published },
  });
  await screen.findByText('view only');
  await screen.findByRole('link', { name: 'Pull request 5' });
  expect(rest.sentTo('sessions.pullRequest')).toEqual([]);
});

describe('the time at work', () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  const state = (to: SessionState, minute: number) => ({
    ...newEvent('server', 'state', { args: { state: to, reason: null }, message: to }),
    time: at(minute),
  });

  it('of a finished session stays, whatever happens to the session later', async () => {
    await renderSession(<Page />, {
      events: logOf(state('running', 0), state('finished', 9), state('running', 30)),
      summary: {
        state: 'finished',
        created: at(0),
        updated: at(40),
        workTime: { seconds: 540, since: null },
      },
    });
    await screen.findByText('9m 00s');
    fireEvent.click(screen.getByText('Event 2'));
    await screen.findByText('9m 00s');
  });
});
