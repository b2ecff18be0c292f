import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const definitions = 'libs/protocol/src/operations';
const tests = /\.spec\.tsx?$|\/testing\/|-bench\.ts$/;

/**
 * Where sources compare an operation’s name instead of using a trait of its definition, or cast an
 * output instead of parsing it, as `path:line: code`. Tests and the definitions themselves are
 * exempt.
 */
export function namesAskedIn(root: string, files: readonly string[] = sourcesOf(root)): string[] {
  const asks = patternsFor(operationNames(root));
  return files.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        asks.some((pattern) => pattern.test(line)) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      ),
  );
}

/** The names of all operations: the keys of their groups. */
export function operationNames(root: string): string[] {
  const folder = join(root, definitions);
  return readdirSync(folder).flatMap((file) =>
    [
      ...readFileSync(join(folder, file), 'utf8').matchAll(
        /^ {2}'?([a-z.-]+)'?: defineOperation/gm,
      ),
    ].map(([, name]) => name ?? ''),
  );
}

function patternsFor(names: readonly string[]): RegExp[] {
  const escaped = (some: readonly string[]) =>
    some.map((name) => name.replaceAll('.', String.raw`\.`)).join('|');
  const dotted = escaped(names.filter((name) => name.includes('.')));
  const plain = escaped(names.filter((name) => !name.includes('.')));
  const groups = escaped([...new Set(names.map((name) => name.split('.')[0] ?? ''))]);
  return [
    new RegExp(`[!=]==? ['"\`](?:${dotted})['"\`]|['"\`](?:${dotted})['"\`] [!=]==?`),
    // Words such as ask have other meanings, too.
    new RegExp(`\\b(?:action|operation|name)\\)? [!=]==? ['"\`](?:${plain})['"\`]`),
    new RegExp(`case ['"\`](?:${dotted})['"\`]:|new Set\\(\\[.*['"\`](?:${dotted})['"\`]`),
    /[!=]==? operations(?:\.|\[['"`])|\boperations(?:\.\w+|\[['"`][a-z.]+['"`]\]) [!=]==?/,
    new RegExp(`startsWith\\(['"\`](?:${groups}|mcp)\\.`),
    /\.output\)? as (?!const)|\(output as |[(\s]output as [{A-Z]/,
    /sessions\.call\(.*\)\)? as (?!const)/,
  ];
}

function sourcesOf(root: string): string[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '-co', '--exclude-standard', 'apps', 'libs', 'evaluation'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  return listed
    .split('\n')
    .filter(
      (path) => /\.tsx?$/.test(path) && !tests.test(path) && !path.startsWith(`${definitions}/`),
    );
}
