import type { TestResult, TestResults } from './test-log.js';

/** Reads the result of a test from one line; undefined if the line has none. */
export type LineReader = (line: string) => [test: string, result: TestResult] | undefined;

/** A later result of a test replaces an earlier one. */
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

/** The width of the leading whitespace. */
export const indentOf = (line: string): number => line.length - line.trimStart().length;

/**
 * The headings above tests, by indent; a heading closes those that are indented as deep or deeper.
 */
export class Headings {
  #open: { name: string; indent: number }[] = [];

  add(line: string): void {
    const indent = indentOf(line);
    while ((this.#open.at(-1)?.indent ?? -1) >= indent) this.#open.pop();
    // Hostile output may indent every line deeper.
    if (this.#open.length < 64) this.#open.push({ name: line.trim(), indent });
  }

  get names(): string[] {
    return this.#open.map(({ name }) => name);
  }

  /** The name of a test with the headings above it. */
  of(test: string): string {
    return [...this.names, test].join(' - ');
  }
}
