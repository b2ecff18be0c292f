import type { TestResults } from '../test-log.js';

/**
 * The results of a second run by Jest, whose log names files and, below a failed file, its failed
 * tests. `word` is in the names of the decoys, which are at the end of the file `host`; that file
 * counts by its own tests.
 */
export function jestResults(
  log: string,
  tests: TestResults,
  { host, word }: { host: string; word: string },
): TestResults {
  const failures = failuresIn(log);
  const decoys = new Set<string>();
  const files = Object.entries(tests).map(([name, result]) => {
    const failed = failures.get(name) ?? [];
    for (const test of failed) if (test.includes(word)) decoys.add(test.slice(test.indexOf(word)));
    const isOwn = name.endsWith(host) && failed.length > 0;
    return [name, isOwn && failed.every((test) => test.includes(word)) ? 'PASSED' : result];
  });
  const failing = Array.from(decoys, (name) => [name, 'FAILED']);
  return Object.fromEntries([...files, ...failing]) as TestResults;
}

/** The failed tests of each file. */
function failuresIn(log: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let file: string | undefined;
  for (const line of log.split('\n')) {
    const [, name] = /^(?:PASS|FAIL)\s(.*?)(?:\s\([\d.]{1,12}\s?m?s\))*\s*$/.exec(line) ?? [];
    if (name !== undefined) file = name;
    const [, test] = /^\s{1,8}● (.*)$/.exec(line) ?? [];
    if (file === undefined || test === undefined) continue;
    found.set(file, [...(found.get(file) ?? []), test]);
  }
  return found;
}
