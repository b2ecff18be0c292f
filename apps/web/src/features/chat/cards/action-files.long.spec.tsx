import { act, fireEvent, screen, within } from '@testing-library/react';
import { actionOutput, newEvent, type NewEvent } from '@belay/protocol';
import { ChatPanel } from '@/features/chat/chat-panel';
import { renderSession } from '@/testing/render-session';
import { logOf, result } from '@/testing/session-log';

const call: NewEvent = {
  source: 'agent',
  action: 'action.speak',
  args: { text: 'hi' },
  message: 'action.speak',
  id: 'call',
};
const file = (name: string, type: string) => ({ name, type, blob: '1'.repeat(64), bytes: 2_048 });
const output = actionOutput.parse({
  text: '',
  structured: { seconds: 2 },
  errors: 'low volume',
  exitCode: 3,
  seconds: 1,
  files: [
    file('said.wav', 'audio/wav'),
    file('wave.svg', 'image/svg+xml'),
    file('notes', 'text/plain'),
  ],
});
const done = result({ operation: 'action.speak', ok: true, output });
const replies = { sessions: { blob: () => new Uint8Array([1, 2]) } };

it('plays the sounds of an action, shows its pictures, and saves all of its files', async () => {
  await renderSession(<ChatPanel />, { events: logOf(call, done), replies });
  const sound = await screen.findByLabelText('said.wav');
  expect(sound.tagName).toBe('AUDIO');
  expect(sound.hasAttribute('controls')).toBe(true);
  expect((await screen.findByAltText('wave.svg')).tagName).toBe('IMG');
  expect(screen.getAllByRole('button', { name: /^Download/ })).toHaveLength(3);
  fireEvent.click(screen.getByRole('button', { name: /speak/, expanded: false }));
  const shown = await screen.findByLabelText('Output');
  expect(shown.textContent).toContain('"seconds": 2');
  expect(shown.textContent).toContain('low volume\n[exit code 3]');
});

it('shows the output of an action while it and another one run', async () => {
  const { live } = await renderSession(<ChatPanel />, { events: logOf(call) });
  await screen.findByRole('button', { name: /speak/ });
  act(() => {
    live.output?.('call', 'half');
    live.output?.('other', 'not this');
    live.output?.('call', ' way\n');
  });
  expect(await screen.findByText('half way')).toBeDefined();
});

it('shows a background call as running, with its output', async () => {
  const started = result({
    operation: 'action.speak',
    ok: true,
    output: { background: 'call', text: 'It runs.' },
  });
  const { live } = await renderSession(<ChatPanel />, { events: logOf(call, started) });
  const card = await screen.findByRole('button', { name: /speak.*running/ });
  act(() => {
    live.output?.('call', 'half way\n');
  });
  expect(await screen.findByText('half way')).toBeDefined();
  expect(card.textContent).not.toContain('It runs.');
});

it('shows the files of a background call with its result', async () => {
  const started = result({
    operation: 'action.speak',
    ok: true,
    output: { background: 'call', text: 'It runs.' },
  });
  const backgroundResult = newEvent('server', 'background-result', {
    args: { operation: 'action.speak', ok: true, output, seconds: 61 },
    message: 'action.speak ended in the background after 61.0 s',
    id: 'call',
  });
  await renderSession(<ChatPanel />, { events: logOf(call, started, backgroundResult), replies });
  const section = within(await screen.findByRole('region', { name: backgroundResult.message }));
  expect((await section.findByLabelText('said.wav')).tagName).toBe('AUDIO');
  expect((await section.findByAltText('wave.svg')).tagName).toBe('IMG');
  expect(section.getByLabelText('Output').textContent).toContain('low volume');
  // The card of the call no longer shows it as running, and each file is shown only once.
  expect(screen.getByRole('button', { name: /speak/, expanded: false }).textContent).not.toContain(
    'running',
  );
  expect(screen.getAllByRole('button', { name: /^Download/ })).toHaveLength(3);
});
