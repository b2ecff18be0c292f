import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

it('ends a process with a code, without its exit', async () => {
  const file = JSON.stringify(join(__dirname, 'end-with-code.ts'));
  const program = `
    const { endWithCode } = require(${file});
    process.on('exit', () => console.error('exit'));
    process.stderr.write('x'.repeat(1e6), () => endWithCode(3));`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'inherit', 'pipe'] });
  let printed = '';
  child.stderr.on('data', (text: Buffer) => (printed += text.toString()));
  expect(await once(child, 'close')).toEqual([3, null]);
  expect(printed).toBe('x'.repeat(1e6));
});
