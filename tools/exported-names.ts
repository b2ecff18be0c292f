import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Files that may share exported names among themselves. */
interface Allowance {
  files: RegExp;
  why: string;
}

const allowances: Allowance[] = [
  {
    files: /^apps\/web\/src\/(?:lib\/server|testing\/server|player\/recorded-server)\.ts$/,
    why: 'tests and the player stand in for the server',
  },
  {
    files: /^apps\/web\/src\/(?:features\/code\/editor|player\/plain-editor)\.ts$/,
    why: 'the player has an editor without Monaco',
  },
  {
    files: /^apps\/web\/src\/(?:features\/changes\/start-highlighter|player\/no-highlighter)\.ts$/,
    why: 'the player highlights no code',
  },
  {
    files: /^apps\/web\/src\/(?:app\/lazy-pages\.ts|player\/recorded-pages\.tsx)$/,
    why: 'the player has the page of a session only',
  },
  { files: /^tools\/bench\/\d\d-/, why: 'tools/bench.ts runs each file by the same two names' },
];

/** Tests export nothing, and the projects in examples are not our code. */
const notSources = /\.(?:spec|e2e|container)\.|\.d\.ts$|^examples\/.*\/project\//;

/**
 * Names that several files export, as `name: file, file`; a name should mean one thing in the whole
 * repository.
 */
export function sharedNames(sources: ReadonlyMap<string, string>): string[] {
  const places = new Map<string, Map<string, string>>();
  for (const [path, text] of sources) {
    const allowance = allowances.findIndex(({ files }) => files.test(path));
    for (const name of exportedNames(text)) {
      const found = places.get(name) ?? new Map<string, string>();
      places.set(name, found.set(allowance < 0 ? path : String(allowance), path));
    }
  }
  return [...places]
    .filter(([, found]) => found.size > 1)
    .map(([name, found]) => `${name}: ${[...found.values()].join(', ')}`);
}

/** Files with a single value whose name comes from elsewhere. */
const namedOtherwise: Allowance[] = [
  { files: /^tools\/(?:layers|plain-language)\.ts$/, why: 'a command has the name of its script' },
  { files: /^apps\/web\/src\/player\/no-highlighter\.ts$/, why: 'it replaces the dashboard’s' },
  { files: /\/index\.ts$/, why: 'it has the name of its folder' },
];

/**
 * Files that export one value (a function, a class, a constant) and are not named after it or after a type that they
 * export, as `file: name, name`. The words of one name are all in the other: `access-tokens.store.ts` exports
 * `AccessTokens`, and `reader.ts` a `LineReader`. A file with several values has the name of their subject.
 */
export function misnamedFiles(sources: ReadonlyMap<string, string>): string[] {
  return [...sources]
    .filter(([path]) => !namedOtherwise.some(({ files }) => files.test(path)))
    .map(([path, text]) => ({ path, names: exportedNames(text), values: exportedValues(text) }))
    .filter(({ path, names, values }) => {
      const words = wordsOf(basename(path).replace(/\.\w+$/, ''));
      return values.size === 1 && !names.some((name) => areAlike(words, wordsOf(name)));
    })
    .map(({ path, names }) => `${path}: ${names.join(', ')}`);
}

const areAlike = (one: ReadonlySet<string>, other: ReadonlySet<string>) =>
  [...one].every((word) => other.has(word)) || [...other].every((word) => one.has(word));

/** The words of a name in any case, without plurals and without the numbers of migrations. */
function wordsOf(name: string): ReadonlySet<string> {
  const words = name
    .replaceAll(/(?<=O)Auth|(?<=Open)AI/g, (letters) => letters.toLowerCase())
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1-$2');
  const parts = words.toLowerCase().split(/[-.]/);
  return new Set(
    parts
      .filter((word) => !/^\d+$/.test(word))
      .map((word) => word.replace(/ies$/, 'y').replace(/s$/, '')),
  );
}

/** The sources, tracked or new, by path. */
export function sourcesIn(root: string): Map<string, string> {
  const list = ['ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx', '*.mjs'];
  const listed = execFileSync('git', list, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const paths = listed
    .split('\n')
    .filter((path) => path && !notSources.test(path) && existsSync(join(root, path)));
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

/** Re-exports by `export { … }` do not count; the name belongs to the file that declares it. */
function exportedNames(text: string): string[] {
  return [...exportedValues(text), ...declaredAs('interface|type', text)];
}

function exportedValues(text: string): Set<string> {
  const unpacked = text.matchAll(/^export const \{([^}]*)\} =/gm);
  const fields = [...unpacked].flatMap(([, list = '']) =>
    list.split(',').map((field) => /(\w+)\s*(?:=|$)/.exec(field)?.[1] ?? ''),
  );
  const declared = declaredAs('function\\*?|class|const|let|enum', text);
  return new Set([...declared, ...fields].filter(Boolean));
}

function declaredAs(kinds: string, text: string): string[] {
  const modifiers = '(?:declare |abstract |async )*';
  const pattern = new RegExp(`^export ${modifiers}(?:${kinds}) ([A-Za-z_$][\\w$]*)`, 'gm');
  return [...text.matchAll(pattern)].map(([, name]) => name ?? '');
}
