import { TerminalBench } from './testing/terminal-bench.js';

let bench: TerminalBench;
beforeEach(async () => void (bench = await TerminalBench.open()));
afterEach(() => bench.close());

test('answers with output, exit code and directory', async () => {
  const first = await bench.run('mkdir -p sub && cd sub && echo hello; X=1; (exit 3)');
  expect(first).toMatchObject({ text: 'hello\n', exitCode: 3, status: 'exited', omittedBytes: 0 });
  expect(first.directory).toBe(`${bench.workspace}/sub`);
  const second = await bench.run('echo "$? $X"; pwd');
  expect(second.text).toBe(`3 1\n${bench.workspace}/sub\n`);
});
