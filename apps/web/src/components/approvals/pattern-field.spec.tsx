import { render, screen } from '@testing-library/react';
import { PatternField } from './pattern-field';

const show = (value: string) =>
  render(<PatternField label="Pattern" value={value} onChange={() => undefined} />);

it('shows the characters of a pattern that its field hides', () => {
  show('npm test\u202e\u200b*');
  expect(screen.getByRole('alert').textContent).toBe(
    'The pattern contains invisible characters: npm test<U+202E><U+200B>*',
  );
});

it('shows nothing more for a pattern that is as it looks', () => {
  show('npm test*');
  screen.getByDisplayValue('npm test*');
  expect(screen.queryByRole('alert')).toBeNull();
});
