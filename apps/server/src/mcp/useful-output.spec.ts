import { usefulOutput } from './useful-output.js';

it.each([
  [
    'npm error code ENOTCACHED\nnpm error request to https://npm.test/x failed\nnpm error A complete log of this run can be found in: /tmp/log\n',
    'npm error code ENOTCACHED · npm error request to https://npm.test/x failed',
  ],
  [
    'Error: Cannot find module "x"\n    at load (node:internal:1:2)\n    at main\n  code: "MODULE_NOT_FOUND"\n}\n\nNode.js v24.1.0\n',
    'Error: Cannot find module "x" · code: "MODULE_NOT_FOUND"',
  ],
  [
    'Traceback (most recent call last):\n  File "/a.py", line 1, in <module>\n    import x\n    ^^^^\nModuleNotFoundError: No module named x\n',
    'Traceback (most recent call last): · import x · ModuleNotFoundError: No module named x',
  ],
  ['\u001b[31mno token\u001b[0m\n', 'no token'],
  ['a\u0007\n', 'a\u2407'],
  ['', ''],
])('of %j tells the reason', (errors, told) => {
  expect(usefulOutput(errors)).toBe(told);
});

it('keeps the end of much output', () => {
  const told = usefulOutput(`${'long '.repeat(1_000)}\n`.repeat(10) + 'the reason');
  expect(told).toHaveLength(600);
  expect(told).toMatch(/the reason$/);
});
