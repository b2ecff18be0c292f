import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { root } from '../product-node.mjs';

let wereWrong = false;

/** Checks the types of what changed, at low priority, and prints the errors. */
export async function checkTypes(ended: AbortSignal): Promise<void> {
  const compiler = spawn(
    join(root, 'node_modules/.bin/tsc'),
    ['-b', ...(process.stderr.isTTY ? ['--pretty'] : [])],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      signal: ended,
    },
  );
  compiler.on('error', () => undefined);
  if (compiler.pid) setPriority(compiler.pid, constants.priority.PRIORITY_LOW);
  let output = '';
  compiler.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(compiler, 'close')) as [number | null];
  if (ended.aborted) return;
  if (code !== 0) process.stderr.write(`✗ types\n${output}`);
  else if (wereWrong) process.stderr.write('✓ types\n');
  wereWrong = code !== 0;
}
