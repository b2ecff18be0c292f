import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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
  const declared = text.matchAll(
    /^export (?:declare |abstract |async )*(?:function\*?|class|const|let|interface|type|enum) ([A-Za-z_$][\w$]*)/gm,
  );
  const unpacked = text.matchAll(/^export const \{([^}]*)\} =/gm);
  return [
    ...[...declared].map(([, name]) => name ?? ''),
    ...[...unpacked].flatMap(([, fields = '']) =>
      fields.split(',').map((field) => /(\w+)\s*(?:=|$)/.exec(field)?.[1] ?? ''),
    ),
  ].filter(Boolean);
}
