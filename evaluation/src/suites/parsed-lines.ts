import type { TestResult, TestResults } from './test-log.js';

/** A reader of one line: what it says of a test, if anything. */
export type LineReader = (line: string) => [test: string, result: TestResult] | undefined;

/** The last word on a test counts. */
export function fromLines(log: string, read: LineReader): TestResults {
  const tests = new Map<string, TestResult>();
  for (const line of log.split('\n')) {
    const found = read(line);
    if (found) tests.set(...found);
  }
  return Object.fromEntries(tests);
}

export const failedTests = (names: Iterable<string>): TestResults =>
  Object.fromEntries(Array.from(names, (name) => [name, 'FAILED' as const]));

// oxlint-disable-next-line no-control-regex
const escapes = /\u001b(?:[@-Z\\-_]|\[[0-?]{0,64}[ -/]{0,64}[@-~])/g;

export const withoutColours = (log: string): string => log.replace(escapes, '');

/** The number of blanks before the first letter. */
export const indentOf = (line: string): number => line.length - line.trimStart().length;

/** Headings above tests by their indent; a heading ends those that are as deep or deeper. */
export class Headings {
  #open: { name: string; indent: number }[] = [];

  add(line: string): void {
    const indent = indentOf(line);
    while ((this.#open.at(-1)?.indent ?? -1) >= indent) this.#open.pop();
    // Hostile output may go deeper with every line.
    if (this.#open.length < 64) this.#open.push({ name: line.trim(), indent });
  }

  /** The name of a test below them. */
  of(test: string): string {
    return [...this.#open.map(({ name }) => name), test].join(' - ');
  }
}
