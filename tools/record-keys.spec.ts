import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourcesIn } from './exported-names.ts';
import { root } from './product-node.mjs';

/** The code that reads records which callers, files and other machines fill in. */
const folders = /^apps\/(server|cli)\/src\/(?!.*testing\/)/;

/**
 * Reads of a `Record<string, …>` by a computed key. A name from outside, such as `constructor`, finds what every object
 * inherits there: `ownValue` and a Map do not.
 */
function unsafeReads(source: string): string[] {
  const declared = /(#?\w+)\??: (?:(?:Readonly|Partial)<)*Record<string,/g;
  const names = new Set([...source.matchAll(declared)].map(([, name = '']) => name));
  return [...names].flatMap((name) => {
    const read = new RegExp(`(?<![\\w#])${name}\\[(?!['"\`\\d])[^\\]]+\\](?! (?:\\?\\?)?= )`, 'g');
    return [...source.matchAll(read)].map(([found]) => found);
  });
}

describe('records with keys from outside', () => {
  it('are read by their own keys alone', () => {
    const found = [...sourcesIn(root)]
      .filter(([path]) => folders.test(path))
      .flatMap(([path, source]) => unsafeReads(source).map((read) => `${path}: ${read}`));
    expect(found).toEqual([]);
    expect(readFileSync(join(root, 'libs/protocol/src/own-value.ts'), 'utf8')).toContain('hasOwn');
  });

  it.each([
    'const kinds: Record<string, string> = {};\nkinds[host] ?? "other"',
    'readonly #saved: Readonly<Record<string, string>>;\nreturn saved[name]',
    'function f(env: Record<string, string | undefined>) { return env[name.toUpperCase()]; }',
  ])('are found in %j', (source) => {
    expect(unsafeReads(source.replace('#saved', 'saved'))).toHaveLength(1);
  });

  it.each([
    'const kinds: Record<Kind, string> = {};\nkinds[kind]',
    'const kinds: Record<string, string> = {};\nownValue(kinds, host)',
    'const kinds: Record<string, string> = {};\nkinds["a"]',
    'const kinds = new Map<string, string>();\nkinds.get(host)',
  ])('are not found in %j', (source) => expect(unsafeReads(source)).toEqual([]));
});
