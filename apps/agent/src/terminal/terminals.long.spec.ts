import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { longTestsOf, until } from '@belay/testing';
import { describeStalled } from './testing/describe-terminals.js';
import { TerminalBench } from './testing/terminal-bench.js';

longTestsOf(() => jest.requireActual('./terminals.spec.js'));
describeStalled('bash');
describeStalled('sh');

test('a shell that cannot come back to its loop is replaced', async () => {
  const bench = await TerminalBench.open();
  expect((await bench.run('readonly __belay_verb=1', { wait: 60 })).exitCode).toBe(137);
  expect(await bench.run('echo on')).toMatchObject({ text: 'on\n', exitCode: 0 });
  await bench.close();
});

test('a prompt that loses the Ctrl-C of its hand-back is sent another', async () => {
  const bench = await TerminalBench.open();
  await bench.run('true');
  bench.terminals.hold('main', 'user');
  const later = "(trap '' TTOU; until test -e ../go; do sleep 0.1; done; stty intr ^C)";
  bench.terminals.keys('main', `stty intr undef; ${later} & echo $((6*7))\r`);
  await until('its prompt', () => /42\r\n.*\$ $/s.test(bench.screen()));
  bench.terminals.hold('main', 'agent');
  await writeFile(join(bench.folder, 'go'), '');
  expect(await bench.run('echo on', { wait: 60 })).toMatchObject({ text: 'on\n', exitCode: 0 });
  await bench.close();
});
