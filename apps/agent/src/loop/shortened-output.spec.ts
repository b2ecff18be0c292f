import { modelFields } from '@belay/protocol';
import { shortenedOutput } from './shortened-output.js';

const lines = Array.from({ length: 300 }, (_, index) => `line ${index + 1} of the file`);
const page = (from: number) => ({
  path: 'a.txt',
  content: `${lines.slice(from - 1).join('\n')}\n`,
  from,
  to: 300,
  lines: 300,
  size: 6_000,
  next: null,
});

describe('a shortened file', () => {
  it.each([1, 41])('read from line %d keeps the true number of every line', (from) => {
    const short = shortenedOutput('files.read', page(from)) as Record<string, string>;
    // Whoever numbers what is left would number it wrongly, so nothing is left to number.
    expect(modelFields('files.read', short)).toEqual({ fields: short, numbered: null });
    const shown = short['content (shortened)']!.split('\n');
    const notices = shown.filter((line) => !/^\d+\t/.test(line));
    expect(notices).toEqual([expect.stringMatching(/^\[… \d+ characters were dropped/)]);
    const numbered = shown.filter((line) => /^\d+\t/.test(line));
    expect(numbered.length).toBeGreaterThan(20);
    for (const line of numbered) {
      const [number, text] = line.split('\t');
      expect(text).toBe(lines[Number(number) - 1]);
    }
    expect(shown[0]).toMatch(new RegExp(`^${from}\t`));
    expect(shown.at(-1)).toMatch(/^300\t/);
  });

  it('that is short stays as it is', () => {
    const output = { ...page(1), content: 'one\ntwo\n', to: 2, lines: 2 };
    expect(shortenedOutput('files.read', output)).toEqual(output);
  });
});

it('a long line is cut as well, and what is not an object too', () => {
  expect(shortenedOutput('terminal.run', { text: 'x'.repeat(5_000) })).toEqual({
    text: expect.stringMatching(/^x{400}\n\[… 4300 characters .*\]\nx{300}$/),
  });
  expect(shortenedOutput('x', [1, 2])).toEqual([1, 2]);
});
