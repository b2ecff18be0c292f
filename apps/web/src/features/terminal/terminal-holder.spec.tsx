import { act, fireEvent, screen } from '@testing-library/react';
import { newEvent, type NewEvent } from '@belay/protocol';
import { renderSession } from '@/testing/render-session';
import { logOf } from '@/testing/session-log';
import { TerminalHolder } from './terminal-holder';
import { useShownTerminal } from './use-shown-terminal';

function Shown() {
  const [shown, choose] = useShownTerminal();
  return (
    <>
      <p>Shown: {shown}</p>
      <button onClick={() => choose('main')}>Choose main</button>
      <TerminalHolder terminal={shown} inUse />
    </>
  );
}

const terminal = (
  name: string,
  change: 'opened' | 'held' | 'closed',
  holder: 'agent' | 'user' = 'agent',
) =>
  newEvent('agent', 'terminal', {
    args: { terminal: name, change, columns: 80, rows: 24, holder },
    message: name,
  });

async function show(...events: NewEvent[]) {
  const { live } = await renderSession(<Shown />, {
    events: logOf(...events),
    summary: { state: 'finished' },
  });
  const add = (event: NewEvent) => {
    events.push(event);
    act(() => {
      live.events(logOf(...events).slice(-1));
    });
  };
  return { add };
}

describe('the shown terminal', () => {
  it('is the one that the agent opened last, until the user chooses another', async () => {
    const { add } = await show(terminal('main', 'opened'));
    add(terminal('web', 'opened'));
    await screen.findByText('Shown: web');
    fireEvent.click(screen.getByRole('button', { name: 'Choose main' }));
    screen.getByText('Shown: main');
    add(terminal('db', 'opened'));
    await screen.findByText('Shown: db');
  });

  it('stays while the user types in it', async () => {
    const { add } = await show(terminal('main', 'opened'));
    add(terminal('web', 'opened'));
    await screen.findByText('Shown: web');
    add(terminal('web', 'held', 'user'));
    await screen.findByText('You’re in control');
    add(terminal('db', 'opened'));
    screen.getByText('Shown: web');
    add(terminal('web', 'held', 'agent'));
    await screen.findByText('Shown: db');
  });
});

describe('the control of a terminal', () => {
  it('can be handed back after the end of the session, too', async () => {
    await show(terminal('main', 'opened'), terminal('main', 'held', 'user'));
    await screen.findByText('You’re in control');
    screen.getByRole('button', { name: 'Hand back' });
  });

  it('is nobody’s once the terminal has closed with its sandbox', async () => {
    const { add } = await show(terminal('main', 'opened'), terminal('main', 'held', 'user'));
    await screen.findByText('You’re in control');
    add(terminal('main', 'closed', 'user'));
    await screen.findByRole('button', { name: 'Take over' });
    screen.getByText('The agent has ended');
  });
});
