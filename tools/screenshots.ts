import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { productEnvironment } from './product-node.mjs';

// npm run screenshots [-- PAGES…]: plays the demo on a new server and writes
// docs/images/PAGE[-phone][-dark].png, the pictures of docs/dashboard.md and the README.
await runCommand(async () => {
  Object.assign(process.env, productEnvironment(await prepareMachine({ tests: true })));
  // Imported here because it needs the built product.
  const { takeScreenshots } = await import('./screenshots/take-screenshots.ts');
  return takeScreenshots(process.argv.slice(2));
});
