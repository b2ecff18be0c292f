import { changedText } from './changed-text.js';

const lines = Array.from({ length: 300 }, (_, index) => `line ${index}`);
const page = lines.join('\n');

it('a page that was not shown, and a short one, is shown as a whole', () => {
  expect(changedText(null, page)).toBe(page);
  expect(changedText('a\nb', 'a\nc')).toBe('a\nc');
});

it('only changed lines of a long page are shown, with two lines around them', () => {
  const now = lines.with(100, 'new').toSpliced(110, 1).join('\n');
  expect(changedText(page, now).split('\n')).toEqual([
    '[98 lines as before]',
    ...now.split('\n').slice(98, 112),
    '[187 lines as before; browser.read shows all]',
  ]);
  expect(changedText(page, page)).toBe('[The text is the same as before; browser.read shows it.]');
  expect(changedText(page, `first\n${page}`).split('\n')[0]).toBe('first');
});
