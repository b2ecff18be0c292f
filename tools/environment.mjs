// Prepares the machine for the tests and prints their environment: eval "$(node
// tools/environment.mjs)"
import { prepareMachine, runCommand } from './prepare/machine.mjs';

await runCommand(async () => {
  const environment = await prepareMachine({ tests: true });
  for (const [name, value] of Object.entries(environment)) console.log(`export ${name}='${value}'`);
});
