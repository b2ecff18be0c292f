import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { productEnvironment } from './product-node.mjs';

// npm run test:actions: installs all of examples/actions on a new server, with their packages and
// set-up, runs their examples, and removes them. Not a part of npm test, because it needs package
// registries and takes minutes.
await runCommand(async () => {
  const environment = await prepareMachine({ tests: true });
  Object.assign(process.env, productEnvironment(environment));
  // Imported here because it needs the built product.
  const { testExamples } = await import('./actions/test-examples.ts');
  return testExamples();
});
