import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

it('ends an agent whose server does not take what is left', async () => {
  const file = JSON.stringify(join(__dirname, 'ending-by-signal.ts'));
  const program = `
    const { endingBySignal } = require(${file});
    const ending = endingBySignal(50);
    ending.addEventListener('abort', () => console.log('ending'));
    setInterval(() => {}, 1_000);
    console.log('ready');`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([143, null]);
  expect(printed).toBe('ready\nending\n');
});
