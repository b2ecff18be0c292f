import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import type { NewEvent } from '@belay/protocol';
import { ChatPanel } from '@/features/chat/chat-panel';
import { renderSession } from '@/testing/render-session';
import { call, failedWith, logOf, result, succeeded } from '@/testing/session-log';

const question = call('ask', { question: 'Which port?', options: ['80', '8080'] });

const show = (events: NewEvent[], more: Parameters<typeof renderSession>[1] = {}) =>
  renderSession(<ChatPanel />, {
    events: logOf(...events),
    summary: { state: 'waiting', question: 'Which port?' },
    replies: { sessions: { message: () => undefined } },
    ...more,
  });

describe('a question from the agent', () => {
  it('is answered by one of its options, at once', async () => {
    const { rest } = await show([question]);
    fireEvent.click(await screen.findByRole('button', { name: '8080' }));
    await waitFor(() =>
      expect(rest.sentTo('sessions.message')).toMatchObject([
        { params: { id: 's' }, body: { text: '8080', delivery: 'steer' } },
      ]),
    );
  });

  it('is answered once, however often the user clicks', async () => {
    const { rest } = await show([question]);
    const option = await screen.findByRole('button', { name: '8080' });
    for (const _ of [1, 2]) await act(async () => fireEvent.click(option));
    expect(rest.sentTo('sessions.message')).toHaveLength(1);
  });

  it('can be answered again when the answer could not be sent', async () => {
    await show([question], { replies: {} });
    const field = await screen.findByRole('textbox', { name: 'Answer: Which port?' });
    fireEvent.change(field, { target: { value: 'any' } });
    fireEvent.click(screen.getByRole('button', { name: 'Answer' }));
    await screen.findByText('The test has no reply of sessions.message.');
    expect(field).toHaveProperty('value', 'any');
    expect(screen.getByRole('button', { name: 'Answer' })).toHaveProperty('disabled', false);
  });

  it('is answered in free text, which must not be blank', async () => {
    const { rest } = await show([question]);
    const field = await screen.findByRole('textbox', { name: 'Answer: Which port?' });
    const send = screen.getByRole('button', { name: 'Answer' });
    fireEvent.change(field, { target: { value: '  ' } });
    fireEvent.click(send);
    fireEvent.change(field, { target: { value: ' any free one ' } });
    fireEvent.click(send);
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.message')).toEqual([
        { text: 'any free one', delivery: 'steer' },
      ]),
    );
  });

  it('shows its answer', async () => {
    await show([question, succeeded('ask', { answer: '8080' })], { summary: { state: 'running' } });
    await screen.findByText('Answered: 8080');
    expect(screen.queryByRole('button', { name: '80' })).toBeNull();
  });

  it.each([
    ['was cancelled', failedWith('ask', 'Cancelled.')],
    ['has a result without an answer', result({ operation: 'ask', ok: true, output: {} })],
  ])('that %s is shown as not answered', async (_, ended) => {
    await show([question, ended]);
    await screen.findByText('Not answered');
  });

  it('cannot be answered once the session has ended', async () => {
    await show([question], { summary: { state: 'stopped' } });
    await screen.findByText('Not answered');
    expect(screen.queryByRole('button', { name: '80' })).toBeNull();
  });

  it('is read-only for a viewer', async () => {
    await show([question], { role: 'viewer' });
    await screen.findByText('Which port?');
    await waitFor(() => expect(screen.queryByRole('button', { name: '80' })).toBeNull());
    expect(screen.queryByRole('textbox')).toBeNull();
  });
});
