import { changedText, knownAfterRead } from './changed-text.js';

const lines = Array.from({ length: 300 }, (_, index) => `line ${index}`);
const page = lines.join('\n');
const textOf = (before: string | null, now: string) => changedText(before, now, 8_000).text;

it('a page that was not shown, and a short one, is shown as a whole', () => {
  expect(changedText(null, page, 8_000)).toEqual({ text: page, truncated: false, known: page });
  expect(textOf('a\nb', 'a\nc')).toBe('a\nc');
});

it('only changed lines of a long page are shown, with two lines around them', () => {
  const now = lines.with(100, 'new').toSpliced(110, 1).join('\n');
  expect(textOf(page, now).split('\n')).toEqual([
    '[98 lines as before]',
    ...now.split('\n').slice(98, 112),
    '[187 lines as before; browser.read shows all]',
  ]);
  expect(textOf(page, page)).toBe('[The text is the same as before; browser.read shows it.]');
  expect(textOf(page, `first\n${page}`).split('\n')[0]).toBe('first');
});

describe('a page that was shown in part', () => {
  it('is shown from there on by the next result, changed or not', () => {
    const first = changedText(null, page, 1_000);
    expect(first).toEqual({
      text: page.slice(0, 1_000),
      truncated: true,
      known: page.slice(0, 1_000),
    });
    const second = changedText(first.known, page, 8_000);
    const whole = first.known.split('\n').length - 1;
    expect(second.text.split('\n')).toEqual([
      `[${whole - 2} lines as before]`,
      ...lines.slice(whole - 2),
    ]);
    expect(second.known).toBe(page);
  });

  it('is known as far as all results together have shown it', () => {
    let known: string | null = null;
    const shown = new Set<string>();
    for (let times = 0; known !== page; times++) {
      expect(times).toBeLessThan(10);
      const next = changedText(known, page, 700);
      for (const line of next.text.split('\n')) shown.add(line);
      expect(page.startsWith(next.known)).toBe(true);
      known = next.known;
    }
    expect(lines.filter((line) => !shown.has(line))).toEqual([]);
  });

  it('is known up to where a read ended, unless something before it was left out', () => {
    expect(knownAfterRead(null, page, { from: 0, to: 500 })).toBe(page.slice(0, 500));
    expect(knownAfterRead(page.slice(0, 500), page, { from: 500, to: 900 })).toBe(
      page.slice(0, 900),
    );
    expect(knownAfterRead(page.slice(0, 400), page, { from: 500, to: 900 })).toBe(
      page.slice(0, 400),
    );
    expect(knownAfterRead(null, page, { from: 500, to: 900 })).toBeNull();
    expect(knownAfterRead(page, page, { from: 0, to: 500 })).toBe(page);
  });
});
