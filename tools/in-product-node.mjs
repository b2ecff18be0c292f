// node tools/in-product-node.mjs TOOL.ts ARGUMENTS…: runs a TypeScript tool in the product’s own
// Node, which strips the types. Itself runs in any Node that comes with npm, and installs missing
// packages first.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { runCommand } from './prepare/machine.mjs';
import { preparePackages } from './prepare/packages.mjs';
import { step } from './prepare/steps.mjs';
import { productEnvironment, productNode, root } from './product-node.mjs';

await runCommand(async () => {
  await step('packages', preparePackages);
  const [tool, ...args] = process.argv.slice(2);
  const options = { stdio: 'inherit', env: productEnvironment() };
  return spawnSync(productNode(), [join(root, 'tools', tool), ...args], options).status ?? 1;
});
