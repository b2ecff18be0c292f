import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { describeSpareShell } from './testing/describe-spare-shell.js';
import { TerminalBench } from './testing/terminal-bench.js';

describeSpareShell('bash');

test.each([
  ['has ended', 'exit 3'],
  ['floods', 'head -c 300000 /dev/zero | tr "\\0" x; sleep 1000'],
])('one that %s is not taken', async (_, early) => {
  const bench = await TerminalBench.open();
  const once = join(bench.folder, 'once');
  await writeFile(
    join(bench.folder, '.bashrc'),
    `[ -e ${once} ] || { touch ${once}; ${early}; }\n`,
  );
  bench.terminals.prepare();
  // It has begun, and its folder goes with it.
  await until('its begin', () => existsSync(once));
  const shells = () => readdir(join(bench.folder, 'state/terminals'));
  await until('its end', async () => (await shells()).length === 0);
  expect(await bench.run('echo fine')).toMatchObject({ text: 'fine\n', exitCode: 0 });
  await bench.close();
});
