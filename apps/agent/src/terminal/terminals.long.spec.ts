import { describeStalled, describeTerminals } from './testing/describe-terminals.js';
import { TerminalBench } from './testing/terminal-bench.js';

describeTerminals('sh');
describeStalled('bash');
describeStalled('sh');

test('a shell that cannot come back to its loop is replaced', async () => {
  const bench = await TerminalBench.open();
  expect((await bench.run('readonly __belay_verb=1', { wait: 60 })).exitCode).toBe(137);
  expect(await bench.run('echo on')).toMatchObject({ text: 'on\n', exitCode: 0 });
  await bench.close();
});
