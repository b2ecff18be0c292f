import type { TestResults } from '../suites/test-log.js';

/** A shortened log of a repository's tests, with their results by SWE-Bench's test ids. */
export interface RepositoryLog {
  parser: string;
  version?: string;
  id?: string;
  log: string;
  tests: TestResults;
}

export const forParsers = (parsers: string[], log: string, tests: TestResults): RepositoryLog[] =>
  parsers.map((name) => ({ parser: `parse_log_${name}`, log, tests }));
