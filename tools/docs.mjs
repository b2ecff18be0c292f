import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { operationsPage } from './docs-operations.mjs';
import { productNode, root } from './product-node.mjs';

// The page of operations is made of their definitions; `--check` says whether it is up to date.
const page = join(root, 'docs/operations.md');
const text = await format(operationsPage(definitions()), {
  ...(await resolveConfig(page)),
  parser: 'markdown',
});
if (!process.argv.includes('--check')) {
  writeFileSync(page, text);
} else if (!existsSync(page) || readFileSync(page, 'utf8') !== text) {
  console.error('docs/operations.md is not up to date with the operations: run “npm run docs”.');
  process.exitCode = 1;
}

/** The operations as built, their schemas as JSON Schema. */
function definitions() {
  const tsc = join(root, 'node_modules/.bin/tsc');
  const options = { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] };
  if (spawnSync(productNode(), [tsc, '-b', 'libs/protocol'], options).status !== 0) process.exit(1);
  const require = createRequire(join(root, 'libs/protocol/package.json'));
  const { operations } = require('./dist/index.js');
  const { z } = require('zod');
  return Object.values(operations).map((operation) => ({
    ...operation,
    input: z.toJSONSchema(operation.input, { io: 'input' }),
    output: z.toJSONSchema(operation.output, { io: 'output' }),
  }));
}
