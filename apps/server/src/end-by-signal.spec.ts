import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

it('ends a process that handles the signal, without its exit', async () => {
  const file = JSON.stringify(join(__dirname, 'end-by-signal.ts'));
  const program = `
    const { endBySignal } = require(${file});
    process.on('SIGTERM', () => {}).on('exit', () => console.log('exit'));
    endBySignal('SIGTERM');`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  expect(await once(child, 'close')).toEqual([null, 'SIGTERM']);
  expect(printed).toBe('');
});
