import { matching } from '../../../lib/matching';
import { complete, tokenAt } from './completion';

describe('tokenAt', () => {
  it.each([
    ['/pa', 3, { sign: '/', text: 'pa', start: 0 }],
    ['look at @src/a', 14, { sign: '@', text: 'src/a', start: 8 }],
    ['@', 1, { sign: '@', text: '', start: 0 }],
  ])('finds the token of %j', (text, caret, token) => {
    expect(tokenAt(text, caret)).toEqual(token);
  });

  it.each([
    ['see a/b', 7],
    ['me@example', 10],
    ['then /stop', 10],
    ['@done ', 6],
  ])('finds none in %j', (text, caret) => {
    expect(tokenAt(text, caret)).toBeNull();
  });
});

it('inserts the chosen word and puts the caret after it', () => {
  const text = 'look at @sr please';
  const token = tokenAt(text, 11);
  expect(token && complete(text, token, 'src/a.ts')).toEqual({
    text: 'look at @src/a.ts please',
    caret: 18,
  });
});

it('ranks paths that start with the word first, then file names, then the rest', () => {
  const words = ['lib/other.ts', 'docs/a-other-b.md', 'other/z.ts', 'x.ts'];
  expect(matching(words, 'oth')).toEqual(['other/z.ts', 'lib/other.ts', 'docs/a-other-b.md']);
});

it('finds a path by a few of its letters', () => {
  const words = ['src/features/chat/message-box.tsx', 'src/main.ts'];
  expect(matching(words, 'chmbox')).toEqual(['src/features/chat/message-box.tsx']);
});
