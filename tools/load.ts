import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { join } from 'node:path';
import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { Instruction } from './prepare/steps.mjs';
import { productEnvironment, root } from './product-node.mjs';
import { plot } from './load/plot.ts';
import { loadFaults } from './load/verdict.ts';

// npm run test:load [-- --minutes N]: many agents and viewers for a while, on a new server. The
// environment is that of the tests.
const help = `Usage: npm run test:load [-- OPTIONS]

  --minutes N   how long the load lasts (10)
  --agents N    sessions at once (50)
  --viewers N   viewers at once (100)
  --plot FILE   where the plot goes (load.svg)

Fails when the server's memory still grows after its warm-up, or when it keeps descriptors, sockets or containers.`;

await runCommand(async () => {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      agents: { type: 'string', default: '50' },
      viewers: { type: 'string', default: '100' },
      plot: { type: 'string', default: join(root, 'load.svg') },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const load = {
    minutes: positive('minutes', values.minutes),
    agents: positive('agents', values.agents),
    viewers: positive('viewers', values.viewers),
  };
  Object.assign(process.env, productEnvironment(await prepareMachine({ tests: true })));
  // Imported here because it needs the built product.
  const { runLoad } = await import('./load/run-load.ts');
  const outcome = await runLoad(load);
  writeFileSync(values.plot, plot(outcome, load));
  const found = loadFaults(outcome);
  const { sessions, views } = outcome;
  console.log(
    `${sessions} sessions of ${load.agents} agents at once, watched ${views} times by ${load.viewers} viewers, in ${load.minutes} minutes. The plot is ${values.plot}`,
  );
  for (const fault of found) console.error(`✗ ${fault}`);
  if (found.length === 0)
    console.log('✓ Memory is flat, and no descriptor, socket or container is left.');
  return found.length === 0 ? 0 : 1;
});

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new Instruction(`--${name} takes a number above 0, not ${text}.`);
}
