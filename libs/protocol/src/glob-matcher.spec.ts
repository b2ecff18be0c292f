import { globMatcher } from './glob-matcher.js';

const matches = (glob: string, path: string): boolean =>
  globMatcher(glob, { anchored: glob.includes('/') })(path);

it.each<[glob: string, matching: string[], others: string[]]>([
  ['*.log', ['a.log', 'a/b.log', '.log'], ['a.logs', 'a.log/b']],
  ['a?c', ['abc', 'x/a😀c'], ['ac', 'a/c', 'abbc']],
  ['src/*.ts', ['src/a.ts'], ['src/a/b.ts', 'x/src/a.ts']],
  ['src/**/*.ts', ['src/a.ts', 'src/a/b/c.ts'], ['src.ts', 'a.ts']],
  ['**/b', ['b', 'a/b', 'a/a/b'], ['ab', 'b/a']],
  ['a/**', ['a/b', 'a/b/c'], ['a', 'ab']],
  ['a/**/**/b', ['a/b', 'a/x/y/b'], ['a/x', 'ab']],
  ['**', ['a', 'a/b'], []],
  ['a**b', ['ab', 'axb', 'x/axxb'], ['a/b']],
  ['[a-c]x', ['ax', 'cx'], ['dx', '-x', 'x']],
  ['[!a-c]x', ['dx', '-x'], ['ax', '/x', 'x']],
  ['[^a]', ['b'], ['a']],
  ['[]a-]', [']', 'a', '-'], ['b']],
  ['[\\]\\\\]', [']', '\\'], ['a']],
  ['[\\d]', ['d'], ['1', '\\']],
  ['\\*\\?\\[', ['*?['], ['a?[']],
  ['a.b+(c)|$', ['a.b+(c)|$'], ['aab+(c)|$']],
  ['a\\/b', ['a/b'], ['ab', 'x/a/b']],
  ['{a,b}', ['{a,b}'], ['a']],
])('%s', (glob, matching, others) => {
  for (const path of matching)
    expect({ path, is: matches(glob, path) }).toEqual({ path, is: true });
  for (const path of others) expect({ path, is: matches(glob, path) }).toEqual({ path, is: false });
});

it.each(['[', '[]', 'a[b', 'a/[', 'a\\', '[z-a]'])(
  '%j is not a pattern and matches nothing',
  (glob) => {
    for (const path of [glob, '', 'a', 'b', 'z', 'a/b'])
      expect({ path, is: matches(glob, path) }).toEqual({ path, is: false });
  },
);

it('attacks: a pattern of a hostile repository is tested as fast as any', () => {
  const name = 'a'.repeat(250);
  const path = Array.from({ length: 100 }, () => 'a').join('/');
  for (const [glob, of] of [
    [`${'*a'.repeat(120)}*b`, name],
    [`${'*?'.repeat(120)}*b`, name],
    [`${'**/a/'.repeat(90)}b`, path],
    [`${'**/*/'.repeat(90)}b`, path],
    [`x/${'*a'.repeat(120)}*b`, `x/${name}`],
  ] as const) {
    expect(matches(glob, of)).toBe(false);
    expect(matches(glob, `${of}b`) || matches(glob, `${of}/b`)).toBe(true);
  }
});
