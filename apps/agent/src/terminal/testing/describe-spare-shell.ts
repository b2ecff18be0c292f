import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { TerminalBench } from './terminal-bench.js';

/** What a shell does that was started before it is needed. */
export function describeSpareShell(shell: 'bash' | 'sh'): void {
  describe(`a shell of ${shell} that was started beforehand`, () => {
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
}
