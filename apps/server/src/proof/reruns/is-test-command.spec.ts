import { isTestCommand } from './is-test-command.js';

const isTest = (command: string, files = ['test/a.test.js', 'test/b c.js', 'test/$(id).js']) =>
  isTestCommand(command, { commands: ['make check', 'bin/test {files} --once'], files });

it.each([
  'make check',
  'make  check test/a.test.js',
  'bin/test test/a.test.js --once',
  'bin/test --once',
  'npm test -- test/a.test.js',
  'node --test ./test/a.test.js',
  'pytest test/a.test.js',
])('runs tests: %s', (command) => expect(isTest(command)).toBe(true));

it.each([
  'grep -q newName src/a.js',
  'npm test',
  'node --test',
  'node test/a.test.js',
  'npm test -- test/other.test.js',
  'npm test -- test/a.test.js; grep -q x src/a.js',
  'npm test -- test/a.test.js && grep -q x src/a.js',
  'npm test -- test/a.test.js\ngrep -q x src/a.js',
  'npm test --script-shell=./x -- test/a.test.js',
  'make check || true',
  'make checks',
  'bin/test --once test/a.test.js',
  'bin/test -x --once',
  'X=1 npm test -- test/a.test.js',
  'npm test -- test/$(id).js',
  'npm test -- test/b c.js',
  '',
])('attacks: is a command, not a test: %j', (command) => expect(isTest(command)).toBe(false));

it('attacks: a file cannot be named like an option', () => {
  expect(isTest('pytest -x', ['-x'])).toBe(false);
});
