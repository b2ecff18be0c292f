/** Adds up what the runs of the tests reported; a check that fails counts as one failed test. */
export function sumCounts(runs) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const run of runs) for (const key of Object.keys(total)) total[key] += run[key] ?? 0;
  return total;
}

/** From jest's JSON report; a suite that cannot even load is a failure without a failed test. */
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

/** Good is: something ran and nothing failed. */
export function exitCodeFor({ passed, failed }) {
  return failed > 0 || passed === 0 ? 1 : 0;
}
