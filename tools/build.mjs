import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { productEnvironment, productNode, root } from './product-node.mjs';

/** Builds what changed, from Nx's cache where it can; returns the exit code. */
export function build({ quiet = false } = {}) {
  const run = spawnSync(
    productNode(),
    [join(root, 'node_modules/.bin/nx'), 'run-many', '-t', 'build', '--outputStyle=static'],
    {
      cwd: root,
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
      encoding: 'utf8',
      // Its daemon outlives the command and its plugin workers cost more than they save here.
      env: productEnvironment({ NX_DAEMON: 'false', NX_ISOLATE_PLUGINS: 'false', NX_TUI: 'false' }),
    },
  );
  if (quiet && run.status !== 0) process.stderr.write(`${run.stdout ?? ''}${run.stderr ?? ''}`);
  return run.status ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(build());
