/**
 * A report in the Common Test Report Format, as pytest-json-ctrf writes it. Durations are unknown.
 */
export function ctrfOf(tests: Record<string, string>) {
  const all = Object.entries(tests).map(([name, result]) => ({
    name,
    status: statuses[result] ?? 'failed',
    duration: 0,
  }));
  const count = (status: string) => all.filter((test) => test.status === status).length;
  return {
    results: {
      tool: { name: 'pytest' },
      summary: {
        tests: all.length,
        passed: count('passed'),
        failed: count('failed'),
        pending: 0,
        skipped: count('skipped'),
        other: count('other'),
        start: 0,
        stop: 0,
      },
      tests: all,
    },
  };
}

const statuses: Record<string, string> = {
  PASSED: 'passed',
  FAILED: 'failed',
  SKIPPED: 'skipped',
  XFAIL: 'other',
};
