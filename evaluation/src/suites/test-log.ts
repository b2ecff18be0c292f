export type TestResult = 'PASSED' | 'FAILED' | 'ERROR' | 'SKIPPED' | 'XFAIL';
export type TestResults = Record<string, TestResult>;

/** What of an instance some parsers go by. */
export interface LogOrigin {
  version: string;
}

/**
 * The results in the output of a repository's tests, by the test ids of the data sets. Output is hostile: parsers take
 * time that grows with its length, not with its square.
 */
export type LogParser = (log: string, origin: LogOrigin) => TestResults;
