import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { productEnvironment } from './product-node.mjs';

// npm run screenshots [-- PAGES…]: plays the demo on a server of its own and writes
// docs/images/PAGE[-phone][-dark].png, the pictures of docs/dashboard.md and the README.
await runCommand(async () => {
  Object.assign(process.env, productEnvironment(await prepareMachine({ tests: true })));
  // Imported late: only now everything that it uses is built.
  const { takeScreenshots } = await import('./screenshots/take-screenshots.ts');
  return takeScreenshots(process.argv.slice(2));
});
