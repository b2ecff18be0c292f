import { fireEvent, render, screen } from '@testing-library/react';
import { Menu } from './menu';

it('shows separators only between items', () => {
  const item = (label: string) => ({ label, run: () => undefined });
  const items = [null, item('One'), null, null, item('Two'), null];
  render(<Menu trigger={<button>Open</button>} items={() => items} />);
  fireEvent.keyDown(screen.getByRole('button'), { key: 'Enter' });
  const [...rows] = screen.getByRole('menu').children;
  expect(rows.map((row) => row.textContent)).toEqual(['One', '', 'Two']);
});
