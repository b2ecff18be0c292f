import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyBench, type HistoryBench } from './testing/history-bench.js';

let bench: HistoryBench;
beforeEach(() => {
  bench = historyBench();
});
afterEach(() => bench.remove());

it('the history records what it can while files come and go', async () => {
  await bench.history.begin();
  writeFileSync(join(bench.workspace, 'kept'), 'x\n');
  const churn = spawn(process.execPath, ['-e', churning, bench.workspace]);
  await new Promise((resolve) => churn.stdout.once('data', resolve));
  for (let n = 0; n < 15; n++) await bench.history.commit({ id: `${n}`, message: 'x' });
  churn.kill('SIGKILL');
  await new Promise((resolve) => churn.once('exit', resolve));
  await bench.history.commit({ id: 'last', message: 'x' });
  expect(bench.files().flat()).toContain('kept');
  expect((await bench.call('workspace.log', {})).steps.length).toBeGreaterThan(1);
});

const churning = `
  const { writeFileSync, rmSync } = require('node:fs');
  process.chdir(process.argv[1]);
  process.stdout.write('ready');
  for (let n = 0; ; n++) {
    try { writeFileSync('churn' + (n % 40), String(n)); } catch {}
    try { rmSync('churn' + ((n * 7) % 40)); } catch {}
  }
`;
