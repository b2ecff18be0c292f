import { countLine, countsOf, exitCodeFor, sumCounts } from './test-count.mjs';

const report = (more) => ({
  numPassedTests: 0,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  numRuntimeErrorTestSuites: 0,
  ...more,
});

describe('the count line', () => {
  it('sums checks and the runs of jest', () => {
    const runs = [{ passed: 1 }, { failed: 1 }, { passed: 40, failed: 0, skipped: 0 }];
    expect(countLine(sumCounts(runs))).toBe('41 passed, 1 failed');
  });

  it('names skipped tests only if there are any', () => {
    expect(countLine(countsOf(report({ numPassedTests: 3, numPendingTests: 1 })))).toBe(
      '3 passed, 0 failed, 1 skipped',
    );
  });

  it('counts a suite that cannot be loaded as failed', () => {
    const counts = countsOf(report({ numPassedTests: 3, numRuntimeErrorTestSuites: 2 }));
    expect(counts.failed).toBe(2);
    expect(exitCodeFor(counts)).toBe(1);
  });

  it('is a failure when nothing ran', () => {
    expect(exitCodeFor({ passed: 0, failed: 0, skipped: 0 })).toBe(1);
    expect(exitCodeFor({ passed: 1, failed: 0, skipped: 0 })).toBe(0);
  });
});
