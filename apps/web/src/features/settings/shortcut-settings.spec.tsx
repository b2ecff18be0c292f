import { fireEvent, screen, within } from '@testing-library/react';
import { usePreferences } from '@/lib/preferences';
import { renderWeb } from '@/testing/render-web';
import { ShortcutSettings } from './shortcut-settings';

const show = (keys: Record<string, string> = {}) =>
  renderWeb(<ShortcutSettings />, { preferences: { keys } });
const group = async (name: string) => within(await screen.findByRole('region', { name }));
const press = (button: HTMLElement, key: string, more = {}) => {
  fireEvent.click(button);
  expect(button.textContent).toBe('press keys…');
  fireEvent.keyDown(button, { key, ...more });
};
const chosen = () => usePreferences.getState().keys;

describe('the shortcuts', () => {
  it('are changed by pressing the new keys', async () => {
    await show();
    const session = await group('Session');
    const stop = session.getByRole('button', {
      name: 'Shortcut for Stop this session: Ctrl+Shift+X',
    });
    press(stop, 'k', { ctrlKey: true, altKey: true });
    expect(chosen()).toEqual({ 'session.stop': 'mod+alt+k' });
    session.getByRole('button', { name: 'Shortcut for Stop this session: Ctrl+Alt+K' });
  });

  it('are cleared by Backspace, and kept by Escape, Tab and a modifier alone', async () => {
    await show();
    const session = await group('Session');
    const message = session.getByRole('button', { name: 'Shortcut for Message the agent: M' });
    press(message, 'Escape');
    press(message, 'Tab');
    press(message, 'Control', { ctrlKey: true });
    expect(message.textContent).toBe('press keys…');
    expect(chosen()).toEqual({});
    fireEvent.keyDown(message, { key: 'Backspace' });
    session.getByRole('button', { name: 'Shortcut for Message the agent: none' });
    expect(chosen()).toEqual({ 'message.write': '' });
  });

  it('are taken from the command that had them, with a notice', async () => {
    await show();
    const session = await group('Session');
    press(session.getByRole('button', { name: /^Shortcut for Message the agent/ }), 'l');
    expect(chosen()).toEqual({ 'message.write': 'l', 'moment.live': '' });
    await screen.findByText('“Go to the live end” had these keys and now has no shortcut.');
  });

  it('may be the same in the fleet and in a session, which are never shown together', async () => {
    await show();
    const fleet = await group('Fleet');
    press(fleet.getByRole('button', { name: 'Shortcut for Next session: J' }), 'm');
    expect(chosen()).toEqual({ 'fleet.next': 'm' });
    (await group('Session')).getByRole('button', { name: 'Shortcut for Message the agent: M' });
  });

  it('can all be reset at once', async () => {
    await show({ 'message.write': 'w', 'fleet.next': '' });
    const session = await group('Session');
    session.getByRole('button', { name: 'Shortcut for Message the agent: W' });
    fireEvent.click(screen.getByRole('button', { name: 'Reset all shortcuts' }));
    session.getByRole('button', { name: 'Shortcut for Message the agent: M' });
    expect(chosen()).toEqual({});
  });
});
