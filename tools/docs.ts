import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';
import { operationsPage, type DocumentedOperation, type JsonSchema } from './docs-operations.ts';
import { productNode, root } from './product-node.mjs';

// npm run docs generates docs/operations.md and the schemas of manifests and automations from the definitions; with
// `--check` it only compares.
await write('docs/operations.md', 'markdown', operationsPage(await definitions()));
const { automationSchema, manifestSchema } = await import('@belay/protocol');
await write('docs/action-manifest.schema.json', 'json', JSON.stringify(manifestSchema()));
await write('docs/automation.schema.json', 'json', JSON.stringify(automationSchema()));

async function write(file: string, parser: string, content: string): Promise<void> {
  const path = join(root, file);
  const text = await format(content, { ...(await resolveConfig(path)), parser });
  if (!process.argv.includes('--check')) {
    writeFileSync(path, text);
  } else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    console.error(`${file} is not up to date with the definitions: run “npm run docs”.`);
    process.exitCode = 1;
  }
}

/** The built operations, with their schemas as JSON Schema. */
async function definitions(): Promise<DocumentedOperation[]> {
  const tsc = join(root, 'node_modules/.bin/tsc');
  const built = spawnSync(productNode(), [tsc, '-b', 'libs/protocol'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (built.status !== 0) process.exit(1);
  // Imported here because it has only just been built.
  const { operations } = await import('@belay/protocol');
  return Object.values(operations).map((operation) => ({
    ...operation,
    input: z.toJSONSchema(operation.input, { io: 'input' }) as JsonSchema,
    output: z.toJSONSchema(operation.output, { io: 'output' }) as JsonSchema,
  }));
}
