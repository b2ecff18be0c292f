import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { productEnvironment, productNode, root } from './product-node.mjs';

/** Builds what changed, from Nx’s cache where possible; resolves to the exit code. */
export function build({ quiet = false } = {}) {
  const child = spawn(
    productNode(),
    [join(root, 'node_modules/.bin/nx'), 'run-many', '-t', 'build', '--outputStyle=static'],
    {
      cwd: root,
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
      // Plugin workers cost more here than they save.
      env: productEnvironment({ NX_ISOLATE_PLUGINS: 'false', NX_TUI: 'false' }),
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== 0) process.stderr.write(output);
      resolve(code ?? 1);
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(await build());
