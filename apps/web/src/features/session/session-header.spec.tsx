import { fireEvent, screen } from '@testing-library/react';
import { newEvent } from '@belay/protocol';
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
