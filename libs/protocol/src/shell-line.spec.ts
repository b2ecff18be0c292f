import { shellLine } from './shell-line.js';

it.each([
  ['ls | wc', 'ls | wc'],
  [['bash', '-lc', 'ls | wc'], 'ls | wc'],
  [['/usr/bin/bash', '-lc', 'npm test'], 'npm test'],
  [['/bin/sh', '-c', 'npm test'], 'npm test'],
  [['/usr/local/bin/zsh', '-lc', 'npm test'], 'npm test'],
  [['dash', '-c', "it's"], "it's"],
  [['git', 'log', 'a b'], "git log 'a b'"],
  [[], ''],
  [undefined, ''],
  [{ command: 'ls' }, ''],
])('%j is %j', (command, line) => {
  expect(shellLine(command)).toBe(line);
});

it.each([
  [['/usr/bin/bash', '-lc', 'npm test', 'more'], "/usr/bin/bash -lc 'npm test' more"],
  [['bash', '--rcfile', '/tmp/x', '-c', 'npm test'], "bash --rcfile /tmp/x -c 'npm test'"],
  [['bash', '-ic', 'npm test'], "bash -ic 'npm test'"],
  [['bash', '-c', ''], ''],
  [['bash', '-c'], 'bash -c'],
  [['./bash', '-lc', 'npm test'], "./bash -lc 'npm test'"],
  [['/tmp/bin/bash', '-lc', 'npm test'], "/tmp/bin/bash -lc 'npm test'"],
  [['/usr/bin/../../tmp/bash', '-c', 'npm test'], "/usr/bin/../../tmp/bash -c 'npm test'"],
  [['bash\n', '-c', 'npm test'], "'bash\n' -c 'npm test'"],
  [['evil;bash', '-c', 'npm test'], "'evil;bash' -c 'npm test'"],
  [['npm', "test'; rm -rf /; '"], `npm 'test'\\''; rm -rf /; '\\'''`],
  [['npm', 'test', '$(id)'], "npm test '$(id)'"],
  [['bash', '-lc', ['npm test']], ''],
  [[['bash'], '-lc', 'npm test'], ''],
])('attacks: %j is no other command than %j', (command, line) => {
  expect(shellLine(command)).toBe(line);
});
