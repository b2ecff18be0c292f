import { act, screen } from '@testing-library/react';
import { newEvent, type NewEvent } from '@belay/protocol';
import { itLong } from '@belay/testing';
import { renderSession } from '@/testing/render-session';
import { call, logOf } from '@/testing/session-log';
import { ChatPanel } from './chat-panel';

const show = (events: NewEvent[]) => renderSession(<ChatPanel />, { events: logOf(...events) });
const say = (text: string, ...calls: { id: string; operation: string; input: unknown }[]) =>
  newEvent('agent', 'say', { args: { text, calls }, message: text });
const message = (text: string) => newEvent('user', 'message', { args: { text }, message: text });
const deliver = (...messages: number[]) =>
  newEvent('server', 'deliver', { args: { messages }, message: 'Taken' });
const refused = (id: string, operation: string, output: object) =>
  newEvent('agent', 'result', {
    args: { operation, ok: false, output, seconds: 0 },
    message: 'Refused',
    id,
  });
const rows = () =>
  [...screen.getByRole('log').querySelectorAll('[data-index]')].map(({ textContent }) =>
    textContent.replace(/\d+:\d+:\d+( [AP]M)?/, '|'),
  );

itLong(
  'shows a queued message where the agent has read it, and at the end until then',
  async () => {
    const log = [say('One.'), message('My review'), say('Two.')];
    const { live } = await show(log);
    await screen.findByText('Two.');
    expect(rows()).toEqual(['One.', 'Two.', expect.stringContaining('My review')]);
    act(() => {
      live.events(logOf(...log, say('Three.'), deliver(2), say('Four.')).slice(3));
    });
    await screen.findByText('Four.');
    expect(rows()).toEqual(['One.', 'Two.', 'Three.', 'You|My review', 'Four.']);
  },
);

describe('calls that were refused before they began', () => {
  const userWrote = { code: 'cancelled', message: 'Not run: the user wrote.' };

  it('are gray cards, with their input and the reason', async () => {
    await show([
      say('I clean two files.', { id: 'a', operation: 'files.remove', input: { path: 'b.txt' } }),
      refused('a', 'files.remove', userWrote),
    ]);
    const card = await screen.findByRole('button', { name: /b\.txt/ });
    expect(card.textContent).toContain('not run');
    expect(card.textContent).not.toContain('failed');
    screen.getByText('Not run: the user wrote.');
  });

  it('include invalid ones, and a finish with its summary', async () => {
    await show([
      say('', { id: 'a', operation: 'files.read', input: { pth: 1 } }),
      refused('a', 'files.read', { code: 'invalid_input', message: 'files.read needs path.' }),
      say('', { id: 'f', operation: 'finish', input: { summary: 'It listens on **PORT**.' } }),
      refused('f', 'finish', userWrote),
    ]);
    await screen.findByText('files.read needs path.');
    screen.getByText('Not finished');
    screen.getByText('PORT');
    expect(screen.queryByText('Done')).toBeNull();
  });

  it('have one card if they began, and a successful finish is still done', async () => {
    await show([
      say('', { id: 'call', operation: 'files.read', input: { path: 'a' } }),
      call('files.read', { path: 'a' }),
      refused('call', 'files.read', { code: 'not_found', message: 'There is no file a.' }),
      call('finish', { summary: 'All good' }, { id: 'f' }),
      newEvent('agent', 'result', {
        args: {
          operation: 'finish',
          ok: true,
          output: { outcome: 'success', summary: 'All good' },
          seconds: 0,
        },
        message: 'Done',
        id: 'f',
      }),
    ]);
    await screen.findByText('Done');
    expect(screen.getAllByText('There is no file a.')).toHaveLength(1);
    expect(screen.queryByText('not run')).toBeNull();
  });
});
