import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exceptions, foreign, notYet, oldWords } from './plain-language-words.ts';
import { root } from './product-node.mjs';

// Part of npm run check:lint. Finds in every tracked file: words that the project does not use any
// more, TypeScript’s `private` where `#private` is the style, and errors that are ignored without a
// reason. tools/plain-language-words.ts has the words and the exceptions.

export interface WordFinding {
  path: string;
  line: number;
  found: string;
  say: string;
}

/** The findings in a file, by line; line 0 is the path. */
export function findingsIn(path: string, text: string): WordFinding[] {
  const lines = [path, ...text.split('\n')];
  return lines.flatMap((content, line) =>
    [...oldWordsIn(path, content), ...privateIn(path, content), ...ignoredIn(path, content)].map(
      (each) => ({
        path,
        line,
        ...each,
      }),
    ),
  );
}

function oldWordsIn(path: string, line: string): { found: string; say: string }[] {
  if (exceptions.some((each) => each.path.test(path) && each.line.test(line))) return [];
  return oldWords.flatMap(({ pattern, say }) =>
    [...line.matchAll(pattern)].map(([found]) => ({ found: found.trim(), say })),
  );
}

/**
 * Finds fields and methods. Properties in a constructor’s parameters, which end with a comma, are
 * Nest’s style.
 */
function privateIn(path: string, line: string): { found: string; say: string }[] {
  if (!/\.tsx?$/.test(path) || !/^\s*private\s(?!constructor\().*[^,]$/.test(line)) return [];
  return [{ found: line.trim(), say: '#private' }];
}

/**
 * Finds errors that are dropped without a reason, except in tests and where an error yields
 * undefined as a value.
 */
function ignoredIn(path: string, line: string): { found: string; say: string }[] {
  if (!/^(apps|libs|evaluation)\/.*\.tsx?$/.test(path) || /\.spec\.|\/testing\//.test(path))
    return [];
  const dropped =
    /\.catch\(\(\) => \{\}\)|^\s*(?:\.catch|(?:void|await) .*\.catch)\(\(\) => undefined\)/;
  return dropped.test(line) ? [{ found: line.trim(), say: 'ignoreError(why)' }] : [];
}

/**
 * Tracked files with the project’s own text: those below `chosen`, or all in which old words are
 * replaced.
 */
function ownFiles(chosen: string[]): string[] {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  }).split('\n');
  return files.filter(
    (path) =>
      path &&
      existsSync(join(root, path)) &&
      !foreign.some((pattern) => pattern.test(path)) &&
      (chosen.length > 0
        ? chosen.some((prefix) => prefix === '.' || path.startsWith(prefix))
        : !notYet.some((prefix) => path.startsWith(prefix))),
  );
}

function check(chosen: string[]): number {
  const findings = ownFiles(chosen).flatMap((path) =>
    findingsIn(path, readFileSync(join(root, path), 'utf8')),
  );
  for (const { path, line, found, say } of findings)
    console.log(`${path}:${line}: “${found}”: say ${say}`);
  if (findings.length > 0)
    console.error(
      `\n${findings.length} old words. An exception belongs in tools/plain-language-words.ts, with its reason.`,
    );
  return findings.length > 0 ? 1 : 0;
}

// Arguments are the files and folders to check, including those in `notYet`.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  process.exitCode = check(process.argv.slice(2));
