import { quotedName, unquotedBytes, unquotedName } from './git-name.js';

describe('names in patches', () => {
  it.each([
    ['plain.txt', 'plain.txt'],
    ['"b/docs/gr\\303\\266\\303\\237e.md"', 'b/docs/größe.md'],
    ['"a\\tb\\n\\"c\\" \\\\"', 'a\tb\n"c" \\'],
    ['"never closed', 'never closed'],
  ])('%s is read', (quoted, name) => {
    expect(unquotedName(quoted)).toBe(name);
  });

  it('keep bytes that are not UTF-8', () => {
    expect(unquotedBytes('"\\377.txt"')).toBe('\u00ff.txt');
  });

  it.each(['plain name.txt', 'größe.md', 'line\nbreak "q" \\', '表.txt', '"'])(
    '%j is written so that it is read back',
    (name) => {
      expect(unquotedName(quotedName(name))).toBe(name);
    },
  );

  it('are quoted only where they must be', () => {
    expect(quotedName('a b.txt')).toBe('a b.txt');
    expect(quotedName('ö')).toBe('"\\303\\266"');
  });
});
