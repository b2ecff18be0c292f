import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { newEvent, type NewEvent } from '@belay/protocol';
import { renderSession } from '@/testing/render-session';
import { call, failedWith, logOf, result } from '@/testing/session-log';
import { ChatPanel } from '../chat-panel';
import { closeChatFind, openChatFind } from './chat-find';
import { rangesOf } from './use-marks';

const say = (text: string) =>
  newEvent('agent', 'say', { args: { text, calls: [] }, message: 'A reply' });
const log: NewEvent[] = [
  say('I read the **large** file.'),
  call('terminal.run', { command: 'cat large file' }),
  failedWith('terminal.run', 'cat: large\nfile: no such file'),
  say('Nothing here.'),
  say('A LARGE\nfile is missing.'),
];

async function find(text: string, events = log) {
  act(() => closeChatFind());
  await renderSession(<ChatPanel />, { events: logOf(...events) });
  act(() => openChatFind());
  const field = await screen.findByRole('textbox', { name: 'Find in the chat' });
  fireEvent.change(field, { target: { value: text } });
  return field;
}
const current = () => document.querySelector('[data-index][aria-current]')?.textContent;

describe('the search in the chat', () => {
  it('counts the entries that show the text, and steps from the newest to the oldest', async () => {
    const field = await find('large file');
    await screen.findByText('3 of 3');
    expect(current()).toContain('is missing');
    fireEvent.keyDown(field, { key: 'Enter' });
    await screen.findByText('2 of 3');
    expect(current()).toContain('no such file');
    fireEvent.keyDown(field, { key: 'ArrowUp' });
    expect(current()).toContain('I read the');
    fireEvent.keyDown(field, { key: 'ArrowUp' });
    await screen.findByText('3 of 3');
    fireEvent.keyDown(field, { key: 'ArrowDown' });
    await screen.findByText('1 of 3');
  });

  it('finds folded cards by what they show, but not by what they hide', async () => {
    const field = await find('npm test', [
      call('terminal.run', { command: 'npm test' }),
      result({ operation: 'terminal.run', ok: true, output: { text: 'deep secret' } }),
    ]);
    await screen.findByText('1 of 1');
    fireEvent.change(field, { target: { value: 'deep secret' } });
    await screen.findByText('No matches');
  });

  it('keeps its place while entries arrive', async () => {
    act(() => closeChatFind());
    const { live } = await renderSession(<ChatPanel />, { events: logOf(...log) });
    act(() => openChatFind());
    const field = await screen.findByRole('textbox', { name: 'Find in the chat' });
    fireEvent.change(field, { target: { value: 'large' } });
    await screen.findByText('3 of 3');
    fireEvent.keyDown(field, { key: 'ArrowUp' });
    await screen.findByText('2 of 3');
    act(() => {
      live.events(logOf(...log, say('Another large one.')).slice(log.length));
    });
    await screen.findByText('2 of 4');
    expect(current()).toContain('no such file');
  });

  it('finds what the result of a call adds after the call was searched', async () => {
    act(() => closeChatFind());
    const begun = log.slice(0, 2);
    const { live } = await renderSession(<ChatPanel />, { events: logOf(...begun) });
    act(() => openChatFind());
    const field = await screen.findByRole('textbox', { name: 'Find in the chat' });
    fireEvent.change(field, { target: { value: 'no such file' } });
    await screen.findByText('No matches');
    act(() => {
      live.events(logOf(...log.slice(0, 3)).slice(begun.length));
    });
    await screen.findByText('1 of 1');
    expect(current()).toContain('no such file');
  });

  it('closes with Esc and gives the focus to the conversation', async () => {
    const field = await find('large');
    await screen.findByText('3 of 3');
    fireEvent.keyDown(field, { key: 'Escape' });
    await waitFor(() => expect(screen.queryByRole('search')).toBeNull());
    expect(current()).toBeUndefined();
    expect(document.activeElement).toBe(screen.getByRole('log', { name: 'Conversation' }));
  });
});

it('marks text across bold parts, line ends and cases', () => {
  const row = document.createElement('div');
  row.innerHTML = '<p>The <b>LARGE</b>\n  file, a large\tfile</p>';
  expect(rangesOf(row, 'large file').map(String)).toEqual(['LARGE\n  file', 'large\tfile']);
  expect(rangesOf(row, 'small file')).toEqual([]);
});
