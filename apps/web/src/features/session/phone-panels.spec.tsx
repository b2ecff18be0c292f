import { act, fireEvent, screen } from '@testing-library/react';
import { showCommit } from '@/lib/panel-links';
import { panelTitles } from '@/lib/panels';
import { renderSession } from '@/testing/render-session';
import { useDock } from './dock-store';
import { PhonePanels } from './phone-panels';

const shown = () => screen.getByRole('button', { current: true }).textContent;

it('has every panel, and follows links from one to another', async () => {
  useDock.getState().visit('s');
  await renderSession(<PhonePanels />);
  const buttons = screen.getByRole('navigation', { name: 'Panels' }).querySelectorAll('button');
  expect([...buttons].map(({ textContent }) => textContent)).toEqual(Object.values(panelTitles));
  expect(shown()).toBe('Chat');
  fireEvent.click(screen.getByRole('button', { name: 'Usage' }));
  expect(shown()).toBe('Usage');
  act(() => {
    showCommit('c0ffee1', null);
  });
  expect(shown()).toBe('Changes');
  await screen.findByText('No changes yet');
  // Another session begins with its chat.
  act(() => {
    useDock.getState().visit('t');
  });
  expect(shown()).toBe('Chat');
});
