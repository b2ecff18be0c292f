import { commandEnding, readableOutput } from './readable-output.js';

const ran = (more: object = {}) => ({
  text: 'a\nb\n',
  omittedBytes: 0,
  from: 0,
  to: 4,
  terminal: 'main',
  status: 'exited',
  exitCode: 0,
  seconds: 1,
  directory: '/',
  ...more,
});
const acted = (more: object) => ({ text: '', errors: '', exitCode: 0, seconds: 1, ...more });

it.each([
  ['terminal.run', true, ran(), 'a\nb'],
  ['terminal.run', true, ran({ omittedBytes: 2_000 }), 'a\nb\n[2 KiB left out]'],
  ['terminal.run', false, { code: 'timeout', message: 'Too late.' }, 'Too late.'],
  ['action.x', true, acted({ text: 'hi\n', errors: 'oh', exitCode: 3 }), 'hi\noh\n[exit code 3]'],
  ['action.x', true, acted({ structured: { n: 1 } }), '{\n  "n": 1\n}'],
  ['mcp.s.t', true, { text: 'sum 3', structuredContent: { n: 3 } }, 'sum 3\n{\n  "n": 3\n}'],
  ['files.read', true, { content: 'x\n' }, 'x'],
  ['files.move', true, { moved: 1 }, '{\n  "moved": 1\n}'],
])('the output of %s (ok: %j) is readable', (operation, ok, output, expected) => {
  expect(readableOutput({ operation, ok, output })).toBe(expected);
});

it.each([
  [{}, ''],
  [{ exitCode: 2 }, '[exit code 2]'],
  [{ status: 'running', exitCode: null }, '[still running]'],
  [{ status: 'timeout', exitCode: null }, '[timed out]'],
])('a command of %j has an ending', (more, expected) => {
  const output = ran(more);
  expect(commandEnding({ operation: 'terminal.run', ok: true, output })).toBe(expected);
});
