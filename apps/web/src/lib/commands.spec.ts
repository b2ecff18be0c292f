/** @jest-environment ./apps/web/src/testing/browser-environment.cjs */
import { jest } from '@jest/globals';
import { listenForKeys, useCommandList } from './commands';

it('leaves the keys of a panel’s command to the browser while another panel has the focus', () => {
  document.body.innerHTML = `
    <div data-find="chat"><textarea id="message"></textarea></div>
    <button id="other"></button>`;
  const run = jest.fn();
  const command = { id: 'find', title: 'Find', group: 'Session', keys: 'mod+f', run };
  useCommandList.setState({
    commands: new Map([['find', { ...command, within: '[data-find=chat]' }]]),
  });
  const stop = listenForKeys();
  const isTaken = (target: Element | null): boolean =>
    target?.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, bubbles: true, cancelable: true }),
    ) === false;
  expect(isTaken(document.querySelector('#message'))).toBe(true);
  expect(isTaken(document.body)).toBe(true);
  expect(run).toHaveBeenCalledTimes(2);
  expect(isTaken(document.querySelector('#other'))).toBe(false);
  expect(run).toHaveBeenCalledTimes(2);
  stop();
});
