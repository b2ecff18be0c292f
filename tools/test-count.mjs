/** Adds up the counts of all runs; a failed check counts as one failed test. */
export function sumCounts(runs) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const run of runs) for (const key of Object.keys(total)) total[key] += run[key] ?? 0;
  return total;
}

/** Counts from Jest’s JSON report; a suite that cannot be loaded counts as one failed test. */
export function countsOf(report) {
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

export function countLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Success means that tests ran and none failed. */
export function exitCodeFor({ passed, failed }) {
  return failed > 0 || passed === 0 ? 1 : 0;
}
