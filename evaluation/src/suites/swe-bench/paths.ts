import type { Instance } from './instance.js';

type Hidden = Pick<Instance, 'test_patch' | 'image_assets'>;

/** The files that the test patch adds, changes, moves or removes, and those that belong to it. */
export function hiddenPaths({ test_patch: patch, image_assets: assets = [] }: Hidden): string[] {
  return [...new Set([...pathsOf(patch), ...assets])];
}

/**
 * The files from which SWE-Bench makes the test commands: those after a move, and also removed ones.
 */
export function testTargets({ test_patch: patch }: Pick<Instance, 'test_patch'>): string[] {
  const headers = patch.matchAll(/^diff --git a\/.* b\/([^\r\n]+)/gm);
  return [...new Set(Array.from(headers, ([, path = '']) => path))];
}

/** Names of test folders, by which SWE-Bench itself distinguishes tests from code. */
const testFolder = /^(tests?|specs?|e2e|testing|__tests__)$/i;

/** Settings of test runners, and files that they load automatically. */
const runnerFiles = [
  'conftest\\.py',
  '\\.?pytest\\.(ini|toml)',
  'tox\\.ini',
  'setup\\.cfg',
  'pyproject\\.toml',
  'sitecustomize\\.py',
  'usercustomize\\.py',
  '[^/]+\\.pth',
  '(jest|vitest|karma|ava|babel)\\.(config|conf)\\.[a-z]+',
  '\\.babelrc[^/]*',
  '\\.?jasmine\\.(json|m?js)',
  '\\.mocharc[^/]*',
  '\\.(taprc|nycrc|npmrc|gitattributes)',
  'package\\.json',
];

/** Metadata of packages, by which pytest finds plugins. Python ignores the case of these names. */
const pythonMetadata = '[.]([dD][iI][sS][tT]|[eE][gG][gG])-[iI][nN][fF][oO](/|$)';

/**
 * A POSIX regular expression for paths that a patch must not change, because they could affect the
 * test results: the folders of hidden tests, a runner's settings and its packages.
 */
export function answeringPaths(instance: Hidden): string {
  const folders = new Set(hiddenPaths(instance).flatMap((path) => testFolderOf(path) ?? []));
  const trees = [...folders].map((path) => `^${escaped(path)}/`);
  return [
    ...trees,
    `(^|/)(${runnerFiles.join('|')})$`,
    '(^|/)(node_modules|_?pytest|__pycache__)/',
    pythonMetadata,
  ].join('|');
}

/** Files that the reference changes may also be changed by other patches. */
export const referencePaths = ({ patch }: Pick<Instance, 'patch'>): string[] => pathsOf(patch);

/** The topmost test folder above a file. */
export function testFolderOf(path: string): string | undefined {
  const parts = path.split('/').slice(0, -1);
  const at = parts.findIndex((part) => testFolder.test(part));
  return at < 0 ? undefined : parts.slice(0, at + 1).join('/');
}

function pathsOf(patch: string): string[] {
  const found = new Set<string>();
  for (const [, path = ''] of patch.matchAll(/^(?:--- a\/|\+\+\+ b\/)([^\t\r\n]+)/gm))
    found.add(path);
  for (const [, path = ''] of patch.matchAll(/^(?:rename|copy) (?:from|to) ([^\r\n]+)/gm))
    found.add(path);
  // Empty and binary files have none of these lines.
  for (const [, path = ''] of patch.matchAll(/^diff --git a\/(\S+) b\/\1\r?$/gm)) found.add(path);
  return [...found].filter((path) => !path.split('/').includes('..'));
}

const escaped = (path: string) => path.replace(/[^\w/-]/g, (letter) => `[${letter}]`);
