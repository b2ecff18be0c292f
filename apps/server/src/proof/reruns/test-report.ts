import { stripVTControlCharacters } from 'node:util';

/** What the output of a test runner says, as far as its form is known. */
export interface TestReport {
  passed: ReadonlySet<string>;
  failed: ReadonlySet<string>;
  /** Whether it counts tests that passed, or names some. */
  hasPasses: boolean;
  /** Whether it says that it ran no test at all. */
  ranNone: boolean;
}

/** Results stand at the end, and in short lines: the time that a hostile output takes is bounded. */
const maxLines = 20_000;
const cut = (line: string): string => line.slice(0, 500);

/** Reads the lines of TAP, node:test, Jest, Vitest, Mocha, pytest, unittest, Go and Cargo; of others it knows nothing. */
export function testReport(output: string): TestReport {
  const lines = uncolored(output).split('\n').slice(-maxLines).map(cut);
  const text = lines.join('\n');
  const passed = namesIn(lines, passes);
  return {
    passed,
    failed: namesIn(lines, failures),
    hasPasses:
      passed.size > 0 || passCounts.some((count) => sum(text, count) > 0) || goOk.test(text),
    ranNone: ranNone(text),
  };
}

/** Without colors and with line ends of one kind, as reasons are looked for. */
export const uncolored = (output: string): string =>
  stripVTControlCharacters(output).replaceAll(/\r\n?/g, '\n');

/** Forms of a line that names a test, with the time after it left out. */
const passes = [
  /^\s*ok \d+ (?:- )?(.+)$/,
  /^\s*[✓✔√] (.+)$/,
  /^(\S+::.+?) PASSED\b/,
  /^(\w+ \(.+\)) \.\.\. ok$/,
  /^\s*--- PASS: (\S+)/,
  /^test (\S+) \.\.\. ok$/,
];
const failures = [
  /^\s*not ok \d+ (?:- )?(.+)$/,
  /^\s*[✕✖✗×] (.+)$/,
  /^(\S+::.+?) (?:FAILED|ERROR)\b/,
  /^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$/,
  /^(\w+ \(.+\)) \.\.\. (?:FAIL|ERROR)$/,
  /^\s*--- FAIL: (\S+)/,
  /^test (\S+) \.\.\. FAILED$/,
];
const passCounts = [
  /^(?:# |ℹ )pass (\d+)$/gm,
  /(\d+) pass(?:ed|ing)\b/g,
  /^OK \((\d+) tests?/gm,
  /^Ran (\d+) tests? in [\d.]+s\n+OK\b/gm,
];
const goOk = /^ok\s+\S+\s+(?:[\d.]+s|\(cached\))/m;
const testCounts = [
  /^(?:# |ℹ )tests (\d+)$/gm,
  /^Tests:.*?(\d+) total$/gm,
  /^collected (\d+) items?\b/gm,
  /^Ran (\d+) tests?\b/gm,
  /^running (\d+) tests?$/gm,
  /^\s*(\d+) passing\b/gm,
  /^1\.\.(\d+)$/gm,
];
const nothing = /\bno tests? (?:ran|found|to run|were found)\b|\[no test files\]/i;

function namesIn(lines: readonly string[], forms: readonly RegExp[]): Set<string> {
  const names = lines.flatMap((line) => {
    const found = forms.map((form) => form.exec(line)?.[1]).find((name) => name !== undefined);
    return found === undefined ? [] : [withoutTime(found)];
  });
  return new Set(names.filter((name) => name !== ''));
}

const withoutTime = (name: string): string =>
  name.replace(/ (?:# time=\S+|\(?[\d.]+ ?m?s\)?)$/, '').trim();

function ranNone(text: string): boolean {
  const counted = testCounts.filter((count) => text.search(count) >= 0);
  if (counted.length > 0) return counted.every((count) => sum(text, count) === 0);
  return nothing.test(text);
}

/** Of all that a runner prints, such as one line for each package. */
const sum = (text: string, count: RegExp): number =>
  [...text.matchAll(count)].reduce((total, [, number]) => total + Number(number), 0);
