import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { TerminalBench } from './testing/terminal-bench.js';

describe.each(['bash', 'sh'] as const)('a shell of %s that was started beforehand', (shell) => {
  let bench: TerminalBench;
  beforeEach(async () => void (bench = await TerminalBench.open({ shell })));
  afterEach(() => bench.close());
  const shells = () => readdir(join(bench.folder, 'state/terminals'));

  test('serves the first terminal, and no other', async () => {
    bench.terminals.prepare();
    await until('a shell', async () => (await shells().catch(() => [])).length > 0);
    const before = await shells();
    expect(bench.events).toEqual([]);
    expect((await bench.run('v=1; echo "$PWD" $v')).text).toBe(`${bench.workspace} 1\n`);
    expect(await shells()).toEqual(before);
    expect((await bench.run('echo "v is $v"', { terminal: 'second' })).text).toBe('v is \n');
    expect(await shells()).toHaveLength(2);
  });

  test('shows its command and what that prints, once', async () => {
    bench.terminals.prepare();
    await bench.run('echo one');
    await until('the output', () => bench.screen().includes('\none\r\n'));
    expect(bench.screen().match(/\$ echo one\r\none\r\n/g)).toHaveLength(1);
  });
});

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
