import { describeSlowLogs, long } from '../../testing/describe-slow-logs.js';

describeSlowLogs([
  long('  1) a\n'),
  long('\n'),
  long('a > b\n'),
  `Starting browser\n${Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}a\n`).join('')}${long('✔ a\n')}`,
]);
