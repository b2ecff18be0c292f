import { processorMs } from '@belay/testing';
import { isExcludePattern, isInArtifact } from './artifact-paths.js';

const artifact = (path: string, ...exclude: string[]) => ({ path, exclude });

it('a folder stands for its content, and not for names that begin like it', () => {
  const app = artifact('/app');
  expect(isInArtifact(app, '/app')).toBe(true);
  expect(isInArtifact(app, '/app/a/b')).toBe(true);
  expect(isInArtifact(app, '/apple')).toBe(false);
  expect(isInArtifact(artifact('/'), '/etc/x')).toBe(true);
});

// The results of GNU tar 1.34 for `tar -c --exclude=PATTERN .`
it.each([
  ['node_modules', '/app/node_modules/a.js', false],
  ['node_modules', '/app/x/node_modules/a.js', false],
  ['node_modules', '/app/node_modules.txt', true],
  ['*.pyc', '/app/x/a.pyc', false],
  ['*.pyc', '/app/a.pyc.txt', true],
  ['./build', '/app/build/a', false],
  ['./build', '/app/x/build/a', true],
  ['x/build', '/app/x/build/a', false],
  ['x*b', '/app/x/a/b', false],
  ['x*/b*.c', '/app/a/x/a/b/b.d/a.c', false],
  ['x*/b*.c', '/app/a/x/b', true],
  ['x**b', '/app/ax/b', true],
  ['[*]', '/app/a', true],
  ['[*]', '/app/*', false],
  ['*', '/app/a', false],
  ['a?c', '/app/abc', false],
  ['[ab]', '/app/a', false],
  ['[!b]', '/app/b', false],
  ['x/', '/app/x/a', true],
  ['a+', '/app/aa', true],
])('with the pattern %j, %s is kept: %s', (pattern, path, isKept) => {
  expect(isInArtifact(artifact('/app', pattern), path)).toBe(isKept);
  expect(isInArtifact(artifact('/app'), path)).toBe(true);
});

it.each([
  ['[z-a]', false],
  ['[a', false],
  ['[a-z]*', true],
  ['a]', true],
])('%j is a pattern: %s', (pattern, isOne) => expect(isExcludePattern(pattern)).toBe(isOne));

it('attacks: a path of two thousand folders is soon compared with patterns', () => {
  const deep = `/app/${'a/'.repeat(2_000)}b.pyc`;
  const isKept = (pattern: string) => isInArtifact(artifact('/app', pattern), deep);
  const compare = () => {
    for (const pattern of ['*.pyc', 'a*/a*/b.pyc', '*/a/*']) expect(isKept(pattern)).toBe(false);
    for (const pattern of ['node_modules', '*.txt', '*/a/*/b', 'a*a*a*a*a*a*d', '*a*?*[a]*d'])
      expect(isKept(pattern)).toBe(true);
  };
  expect(processorMs(compare)).toBeLessThan(2_000);
});
