import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { productEnvironment } from './product-node.mjs';

// npm run test:actions: installs all of examples/actions on a server of its own, with their packages and set-up, runs
// their examples, and removes them. Needs package registries and takes minutes: not a part of npm test.
await runCommand(async () => {
  const environment = await prepareMachine({ tests: true });
  Object.assign(process.env, productEnvironment(environment));
  // Imported late: only now everything that it uses is built.
  const { testExamples } = await import('./actions/test-examples.ts');
  return testExamples();
});
