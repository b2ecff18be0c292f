import { operationOf } from './tool-call.js';

const asked = (command: unknown) => {
  const call = { toolCallId: 't1', kind: 'execute', rawInput: { command }, printed: '' } as const;
  const { operation, input } = operationOf('codex', call);
  return [operation.name, input];
};

it.each([
  ['npm test', 'npm test'],
  [['/usr/bin/bash', '-lc', 'npm test'], 'npm test'],
  [['./bash', '-lc', 'npm test'], "./bash -lc 'npm test'"],
])('the command %j is asked about as %j', (command, line) => {
  expect(asked(command)).toEqual(['terminal.run', expect.objectContaining({ command: line })]);
});

it.each([['  '], [[]], [['bash', '-lc', 1]], [{ text: 'ls' }]])(
  '%j names no command, so that the call is one of the program’s own tools',
  (command) => {
    expect(asked(command)).toEqual(['tool.codex.execute', { command }]);
  },
);
