import { judgeJunit } from './test-reports.js';

const report = (counted: number, ...names: string[]) =>
  Buffer.from(
    `<testsuite name="run" errors="0" failures="0" tests="${counted}">${names.map((name) => `<testcase classname="run.global" name="${name}" status="run"/>`).join('')}</testsuite>`,
  );
const judge = (bytes: Buffer) =>
  judgeJunit({ exitCode: 0, output: '', files: new Map([['report', bytes]]) }, 'report');

it('a report of Catch2 counts assertions, of which each test has at least one', () => {
  expect(judge(report(69, 'sorts', 'retains'))).toMatchObject({
    outcome: 'pass',
    tests: { 'run.global.sorts': 'PASSED', 'run.global.retains': 'PASSED' },
  });
  expect(judge(report(1, 'sorts', 'retains')).cause).toBe('no_result');
});
