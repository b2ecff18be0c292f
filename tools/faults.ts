import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { Instruction } from './prepare/steps.mjs';
import { productEnvironment } from './product-node.mjs';
import type { Fault } from './faults/faults.ts';
import { Random } from './faults/random.ts';
import type { Size, World } from './faults/world.ts';

const usage = `Usage: npm run test:faults [-- --seed N --minutes M --sessions S]

  Breaks a server, its agents and everything that they depend on by a random schedule, which the seed determines, while
  agents work and a viewer watches. In the end nothing may be lost, duplicated or shown wrongly. Needs root.`;

/** How long sessions may take to end after the last fault. */
const calmMs = 180_000;

// Not a part of npm test, because it takes minutes.
await runCommand(async () => {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      minutes: { type: 'string', default: '3' },
      sessions: { type: 'string', default: '4' },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const seed = Number(values.seed);
  const minutes = Number(values.minutes);
  const sessions = Number(values.sessions);
  if (!(seed >= 0) || !(minutes > 0) || !(sessions >= 1))
    throw new Instruction(`Seed, minutes and sessions must be numbers.\n\n${usage}`);
  if (process.getuid?.() !== 0)
    throw new Instruction('The faults need root, for their own Docker Engine and disk.');
  Object.assign(process.env, productEnvironment(await prepareMachine({ tests: true })));
  console.log(`Seed ${seed}: npm run test:faults -- --seed ${seed} --minutes ${minutes}\n`);
  const folder = mkdtempSync(join(tmpdir(), 'belay-faults-'));
  try {
    const size = { sessions, steps: Math.round(minutes * 30) };
    return await inWorld(folder, size, (world) => suffer(world, { seed, minutes }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Imported here because it needs the built product. */
async function inWorld(
  folder: string,
  size: Size,
  use: (world: World) => Promise<number>,
): Promise<number> {
  const { World } = await import('./faults/world.ts');
  const world = await World.open(folder, size);
  try {
    return await use(world);
  } finally {
    await world.close();
  }
}

async function suffer(world: World, { seed, minutes }: { seed: number; minutes: number }) {
  const { ofProcesses, ofEnvironment } = await import('./faults/faults.ts');
  const begun = Date.now();
  const until = begun + minutes * 60_000;
  const counts = await Promise.all([
    lane(world, ofProcesses, { random: new Random(seed), begun, until }),
    lane(world, ofEnvironment, { random: new Random(seed + 1), begun, until }),
  ]);
  const faults = await calm(world).then(() => found(world));
  for (const fault of faults) console.log(`✗ ${fault}`);
  const done = counts[0] + counts[1];
  console.log(
    `\n${done} faults, ${world.witnesses.length} sessions: ` +
      (faults.length === 0
        ? 'nothing lost, duplicated or shown wrongly'
        : `${faults.length} things went wrong (seed ${seed})`),
  );
  return faults.length === 0 ? 0 : 1;
}

/** Runs faults in sequence, with pauses; resolves to their number. */
async function lane(
  world: World,
  faults: readonly Fault[],
  { random, begun, until }: { random: Random; begun: number; until: number },
): Promise<number> {
  let count = 0;
  while (Date.now() < until) {
    await delay(random.between(200, 3_000));
    const fault = random.pick(faults);
    const effect = await fault(world, random);
    console.log(`${((Date.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${effect}`);
    await world.restartFallen();
    count++;
  }
  return count;
}

/** Waits until all sessions have ended and the viewer has received everything. */
async function calm(world: World): Promise<void> {
  const deadline = Date.now() + calmMs;
  const { client } = world.server;
  for (;;) {
    await world.restartFallen();
    const settled = await Promise.all(
      world.witnesses.map((each) => each.settled(client).catch(() => false)),
    );
    if (settled.every(Boolean) || Date.now() > deadline) return;
    await delay(500);
  }
}

async function found(world: World): Promise<string[]> {
  const { client } = world.server;
  const all = await Promise.all(
    world.witnesses.map(async (witness) =>
      (await witness.faults(client)).map((fault) => `${witness.id}: ${fault}`),
    ),
  );
  return all.flat();
}
