import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { root } from './product-node.mjs';

const tests = ['*.spec.ts', '*.spec.tsx', '*.spec.mjs', 'e2e/**/*.ts'];
const sleeps = /(?<!jest\.)\bsetTimeout\(|\bsetTimeout\b.*\btimers\/promises\b/;

/** Lines of a test that wait for a time instead of a condition. */
const sleepsIn = (text: string): string[] => text.split('\n').filter((line) => sleeps.test(line));

it('finds a fixed sleep, but not time limits of Jest', () => {
  expect(
    sleepsIn('await new Promise((done) => setTimeout(done, 50));\njest.setTimeout(60_000);'),
  ).toHaveLength(1);
  expect(sleepsIn("import { setTimeout as sleep } from 'node:timers/promises';")).toHaveLength(1);
});

it('no test sleeps; libs/testing has `until`, `staysTrue` and `pause`', () => {
  const files = execFileSync('git', ['ls-files', ...tests], { cwd: root, encoding: 'utf8' });
  const found = files
    .split('\n')
    .filter((file) => file && file !== 'tools/fixed-sleeps.spec.ts')
    .flatMap((file) =>
      sleepsIn(readFileSync(`${root}/${file}`, 'utf8')).map((line) => `${file}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});
