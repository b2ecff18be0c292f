import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from './faults/random.ts';
import type { Target } from './fuzz/targets.ts';
import { buildAll, runCommand } from './prepare/machine.mjs';
import { preparePackages } from './prepare/packages.mjs';
import { Instruction, step } from './prepare/steps.mjs';
import { root } from './product-node.mjs';

const usage = `Usage: npm run fuzz [-- READERS… --minutes M --seed N]

  Feeds mutated inputs to the readers of hostile bytes, and keeps those that reach new code. Without names: to all of
  them, one minute each. An input that breaks a reader is written to fuzz-results; add it to the seeds in
  tools/fuzz/targets.ts, so that npm test keeps trying it.`;

/** A reader that takes longer for 4 KiB could block the server. */
const slowMs = 1_000;

await runCommand(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      minutes: { type: 'string', default: '1' },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const [seed, minutes] = [Number(values.seed), Number(values.minutes)];
  if (!(seed >= 0) || !(minutes > 0))
    throw new Instruction(`Seed and minutes must be numbers.\n\n${usage}`);
  await step('packages', preparePackages);
  await step('build', buildAll);
  const { targets } = await import('./fuzz/targets.ts');
  const names = positionals.length > 0 ? positionals : Object.keys(targets);
  const chosen = names.map((name) => {
    const target = targets[name];
    if (!target)
      throw new Instruction(
        `There is no reader ${name}. Choose one of: ${Object.keys(targets).join(', ')}.`,
      );
    return { name, target };
  });
  console.log(`Seed ${seed}\n`);
  let broken = 0;
  for (const { name, target } of chosen)
    if (!(await fuzz(name, target, { random: new Random(seed), minutes }))) broken++;
  return broken === 0 ? 0 : 1;
});

/** Resolves to whether the reader passed. */
async function fuzz(
  name: string,
  target: Target,
  { random, minutes }: { random: Random; minutes: number },
): Promise<boolean> {
  const { Coverage } = await import('./fuzz/coverage.ts');
  const { mutate } = await import('./fuzz/mutate.ts');
  const coverage = await Coverage.start(target.covers);
  const corpus: Buffer[] = target.seeds.map((seed) => Buffer.from(seed));
  for (const seed of corpus) if (!(await held(name, target, seed))) return false;
  await coverage.isNew();
  const begun = coverage.blocks;
  const until = Date.now() + minutes * 60_000;
  let runs = 0;
  while (Date.now() < until) {
    // Reading the coverage costs more than a run, so it is read once for several runs.
    const inputs = Array.from({ length: 4 }, () =>
      mutate(random.pick(corpus), random.pick(corpus), random),
    );
    for (const input of inputs) if (!(await held(name, target, input))) return false;
    runs += inputs.length;
    if (await coverage.isNew()) corpus.push(...inputs);
  }
  console.log(
    `✓ ${name}: ${runs} inputs, ${corpus.length} kept, ${begun} → ${coverage.blocks} blocks reached`,
  );
  return true;
}

async function held(name: string, target: Target, input: Buffer): Promise<boolean> {
  const { isRefusal } = await import('./fuzz/targets.ts');
  const begun = performance.now();
  try {
    target.read(input);
  } catch (error) {
    if (!isRefusal(error)) return keep(name, input, String(error));
  }
  const took = performance.now() - begun;
  return took < slowMs || keep(name, input, `It took ${Math.round(took)} ms.`);
}

function keep(name: string, input: Buffer, why: string): false {
  const folder = join(root, 'fuzz-results');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}-${Date.now()}`);
  writeFileSync(file, input);
  console.log(`✗ ${name}: ${why}\n  The input is in ${file}`);
  return false;
}
