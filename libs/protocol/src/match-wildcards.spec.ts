import { matchWildcards } from './match-wildcards.js';

/** Whether a text matches, and the number of comparisons. */
function compared(pattern: string, text: string): { matches: boolean; count: number } {
  let count = 0;
  const matches = matchWildcards(Array.from(pattern), Array.from(text), {
    isWildcard: (entry) => entry === '*',
    fits: (entry, item) => {
      count += 1;
      return entry === item;
    },
  });
  return { matches, count };
}

it.each([
  ['', '', true],
  ['', 'a', false],
  ['*', '', true],
  ['a*', 'abc', true],
  ['*c', 'abc', true],
  ['a*c', 'acbc', true],
  ['a*b*c', 'abbbcbc', true],
  ['a*b*c', 'abbbcb', false],
  ['**a', 'ba', true],
  ['ab', 'a', false],
])('%j and %j: %j', (pattern, text, matches) => {
  expect(compared(pattern, text).matches).toBe(matches);
});

it('attacks: no pattern takes more comparisons than the product of both lengths', () => {
  for (const size of [50, 100, 200]) {
    const [pattern, text] = [`${'*a'.repeat(size)}*b`, 'a'.repeat(size * 2)];
    const { matches, count } = compared(pattern, text);
    expect(matches).toBe(false);
    expect(count).toBeLessThanOrEqual(pattern.length * text.length);
    expect(compared(pattern, `${text}b`).matches).toBe(true);
  }
});
