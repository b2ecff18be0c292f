export type TestResult = 'PASSED' | 'FAILED' | 'ERROR' | 'SKIPPED' | 'XFAIL';
export type TestResults = Record<string, TestResult>;

/** The properties of an instance that some parsers use. */
export interface LogOrigin {
  version: string;
  id: string;
}

/**
 * The results in the output of a repository's tests, by the test ids of the data sets. Output may
 * be hostile, so the time of a parser must be linear in its length.
 */
export type LogParser = (log: string, origin: LogOrigin) => TestResults;
