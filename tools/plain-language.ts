import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exceptions, foreign, notYet, oldWords } from './plain-language-words.ts';
import { root } from './product-node.mjs';

// Part of npm run check:lint: finds words that the project does not use any more in every tracked file, TypeScript's
// `private` where `#private` is the style, and errors that are ignored without a reason. tools/plain-language-words.ts has the words and the exceptions.

export interface WordFinding {
  path: string;
  line: number;
  found: string;
  say: string;
}

/** What is to be replaced in a file, by its lines; line 0 is its path. */
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

/** Fields and methods; properties of a constructor's parameters, which end with a comma, are Nest's style. */
function privateIn(path: string, line: string): { found: string; say: string }[] {
  if (!/\.tsx?$/.test(path) || !/^\s*private\s(?!constructor\().*[^,]$/.test(line)) return [];
  return [{ found: line.trim(), say: '#private' }];
}

/** Errors that are dropped without a reason; tests, and values that an error leaves undefined, need none. */
function ignoredIn(path: string, line: string): { found: string; say: string }[] {
  if (!/^(apps|libs|evaluation)\/.*\.tsx?$/.test(path) || /\.spec\.|\/testing\//.test(path))
    return [];
  const dropped =
    /\.catch\(\(\) => \{\}\)|^\s*(?:\.catch|(?:void|await) .*\.catch)\(\(\) => undefined\)/;
  return dropped.test(line) ? [{ found: line.trim(), say: 'ignoreError(why)' }] : [];
}

/** Tracked files whose text is the project's own: those below `chosen`, or all whose words were replaced already. */
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

// Arguments are folders and files to look at, also those that are still to come.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  process.exitCode = check(process.argv.slice(2));
