import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { itLong, sampled, until } from '@belay/testing';
import { describeTerminals } from './testing/describe-terminals.js';
import { TerminalBench } from './testing/terminal-bench.js';

describe.each(sampled(1, ['bash', 'sh']))('terminals with %s', describeTerminals);

test('a terminal that is opened again goes on behind its old bytes', async () => {
  const bench = await TerminalBench.open();
  const first = await bench.run('echo old');
  await bench.call('terminal.close', { terminal: 'main' });
  const second = await bench.run('echo new');
  expect(second.from).toBeGreaterThan(first.to);
  await until('the output', () => bench.screen().length >= second.to);
  expect(bench.screen().slice(second.from, second.to)).toBe('new\r\n');
  await bench.close();
});

itLong('goes on where the server has stored a terminal already', async () => {
  const bench = await TerminalBench.open({ stored: () => Promise.resolve(1_000) });
  expect((await bench.run('echo x')).from).toBeGreaterThan(1_000);
  await bench.close();
});

test('a state folder that cannot be used is an error, not a hang', async () => {
  const bench = await TerminalBench.open();
  await writeFile(join(bench.folder, 'state'), '');
  await expect(bench.run('true')).rejects.toMatchObject({ code: 'unavailable' });
  await bench.close();
});

test('keystrokes into a terminal that is still opening are not lost', async () => {
  const bench = await TerminalBench.open();
  for (const name of ['a', 'b', 'c']) {
    await bench.terminals.open(name);
    bench.terminals.hold(name, 'user');
    bench.terminals.keys(name, 'echo $((40+2))\r');
  }
  for (const name of ['a', 'b', 'c']) {
    await until(`the output of ${name}`, () => /^42\r$/m.test(bench.screen(name)), {
      state: () => bench.screen(name),
    });
  }
  await bench.close();
});

itLong('a ~/.bashrc that ends every shell does not lock the agent out', async () => {
  const bench = await TerminalBench.open();
  await writeFile(join(bench.folder, '.bashrc'), 'exit 3\n');
  expect(await bench.run('echo in; (exit 4)')).toMatchObject({ text: 'in\n', exitCode: 4 });
  expect(bench.screen()).toContain('a new one begins without ~/.bashrc');
  await bench.close();
});

itLong('a shell whose first prompt cannot report itself is called into its loop', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belay-shell-'));
  // As at the limit of processes: a prompt that starts no program.
  const start = `printf '. %s\\nPS1="$ "\\n' "$ENV" >${folder}/start`;
  const shell = `#!/bin/sh\n${start}\nENV=${folder}/start exec /bin/sh "$@"\n`;
  await writeFile(join(folder, 'sh'), shell, { mode: 0o755 });
  const bench = await TerminalBench.open({ env: { PATH: folder, HOME: folder } });
  expect(await bench.run('echo on', { wait: 60 })).toMatchObject({ text: 'on\n', exitCode: 0 });
  await bench.close();
  await rm(folder, { recursive: true });
});
