import type { TestResults } from '../suites/test-log.js';

/** A log as the tests of a repository print it, shortened, and what SWE-Bench's ids of its results are. */
export interface RepositoryLog {
  parser: string;
  version?: string;
  log: string;
  tests: TestResults;
}

export const forParsers = (parsers: string[], log: string, tests: TestResults): RepositoryLog[] =>
  parsers.map((name) => ({ parser: `parse_log_${name}`, log, tests }));
