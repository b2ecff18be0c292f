import { stripMarkdown } from './strip-markdown';

it.each([
  ['Mended `sum()` in `math.py`.', 'Mended sum() in math.py.'],
  ['**Done.** See [the notes](docs/notes.md)', 'Done. See the notes'],
  ['## Changes\n\n- [x] one\n- two\n\n```\nnpm test\n```', 'Changes one two npm test'],
  ['2 * 3 * 4 and snake_case_name', '2 * 3 * 4 and snake_case_name'],
])('%j reads %j', (markdown, text) => {
  expect(stripMarkdown(markdown)).toBe(text);
});
