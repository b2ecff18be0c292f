import { fireEvent, screen, waitFor } from '@testing-library/react';
import { newEvent } from '@belay/protocol';
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
