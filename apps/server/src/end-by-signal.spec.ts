import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

it.each([
  ['a process that handles the signal', '', [null, 'SIGTERM']],
  ['the first process of a container', 'process.kill = () => true;', [0, null]],
])('ends %s, without its exit', async (_what, before, end) => {
  const file = JSON.stringify(join(__dirname, 'end-by-signal.ts'));
  // Node loads the sources as they are, which name the files that are built.
  const program = `
    require('node:module').registerHooks({
      resolve: (name, context, next) => next(name.replace(/[.]js$/, '.ts'), context),
    });
    const { endBySignal } = require(${file});
    process.on('SIGTERM', () => {}).on('exit', () => console.log('exit'));
    ${before}
    endBySignal('SIGTERM');`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  expect(await once(child, 'close')).toEqual(end);
  expect(printed).toBe('');
});
