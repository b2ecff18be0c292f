import { fireEvent, screen, waitFor } from '@testing-library/react';
import { newEvent, type SessionState } from '@belay/protocol';
import { renderSession } from '@/testing/render-session';
import { logOf } from '@/testing/session-log';
import { MessageBox } from './message-box';

const sent = (text: string) => newEvent('user', 'message', { args: { text }, message: text });

async function show(...texts: string[]): Promise<HTMLTextAreaElement> {
  await renderSession(<MessageBox />, { events: logOf(...texts.map(sent)) });
  return screen.findByRole<HTMLTextAreaElement>('textbox');
}

describe('the history of sent messages', () => {
  it('is browsed with the arrow keys', async () => {
    const box = await show('first', 'second');
    for (const [key, text] of [
      ['ArrowUp', 'second'],
      ['ArrowUp', 'first'],
      ['ArrowUp', 'first'],
      ['ArrowDown', 'second'],
      ['ArrowDown', ''],
    ] as const) {
      fireEvent.keyDown(box, { key });
      await waitFor(() => expect(box.value).toBe(text));
    }
  });

  it('starts with the newest one again after a recalled one was cleared', async () => {
    const box = await show('first', 'second');
    fireEvent.keyDown(box, { key: 'ArrowUp' });
    fireEvent.keyDown(box, { key: 'ArrowUp' });
    await waitFor(() => expect(box.value).toBe('first'));
    fireEvent.change(box, { target: { value: '' } });
    fireEvent.keyDown(box, { key: 'ArrowUp' });
    await waitFor(() => expect(box.value).toBe('second'));
  });

  it('leaves edited text alone', async () => {
    const box = await show('first');
    fireEvent.change(box, { target: { value: 'mine' } });
    fireEvent.keyDown(box, { key: 'ArrowUp' });
    expect(box.value).toBe('mine');
  });
});

describe('Esc', () => {
  const showIn = async (state: SessionState) => {
    const { rest } = await renderSession(<MessageBox />, {
      summary: { state },
      replies: {
        sessions: {
          message: () => undefined,
          interrupt: () => undefined,
          resume: () => undefined,
        },
      },
    });
    const box = await screen.findByRole<HTMLTextAreaElement>('textbox');
    fireEvent.change(box, { target: { value: '' } });
    return { rest, box };
  };

  it('breaks off what the agent is doing, and sends what was written at once', async () => {
    const { rest, box } = await showIn('running');
    await screen.findByRole('radio', { name: 'Now' });
    fireEvent.keyDown(box, { key: 'Escape' });
    await waitFor(() => expect(rest.sentTo('sessions.interrupt')).toHaveLength(1));
    fireEvent.change(box, { target: { value: 'Use port 80' } });
    fireEvent.keyDown(box, { key: 'Escape' });
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.message')).toMatchObject([
        { text: 'Use port 80', delivery: 'steer' },
      ]),
    );
    expect(rest.sentTo('sessions.interrupt')).toHaveLength(1);
  });

  it('does nothing while the agent does not work', async () => {
    const { rest, box } = await showIn('finished');
    await waitFor(() => expect(box.placeholder).toContain('to continue'));
    fireEvent.keyDown(box, { key: 'Escape' });
    expect(rest.sentTo('sessions.interrupt')).toEqual([]);
  });

  it('in a paused session, a message resumes it, as its button says', async () => {
    const { rest, box } = await showIn('paused');
    const send = await screen.findByRole('button', { name: 'Send and resume' });
    fireEvent.change(box, { target: { value: 'Go on' } });
    fireEvent.click(send);
    await waitFor(() => expect(rest.sentTo('sessions.resume')).toHaveLength(1));
    expect(rest.bodiesOf('sessions.message')).toMatchObject([{ text: 'Go on' }]);
  });
});
