import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Causes a fault and ends it; resolves to a description for the printed schedule. */
export type Fault = (world: World, random: Random) => Promise<string>;

/** Faults of processes, only one at a time, since recovery needs the other processes. */
export const ofProcesses: Fault[] = [killServer, endServer, killContainer, killAgent, killEngine];

/** Faults in the environment of the processes. */
export const ofEnvironment: Fault[] = [fillDisk, lockDatabase, jumpClock, cut, freeze, slow];

async function killServer(world: World, random: Random): Promise<string> {
  const ms = Math.round(random.between(0, 2_000));
  await world.server.end('SIGKILL');
  await delay(ms);
  await startServer(world);
  return `kill -9 of the server, which is back after ${ms} ms`;
}

async function endServer(world: World): Promise<string> {
  await world.server.end('SIGTERM');
  await startServer(world);
  return 'restart of the server';
}

/** Retries as a user would, since the server does not start on a full or locked disk. */
async function startServer(world: World): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await world.server.start();
    } catch (error) {
      if (tries === 60) throw error;
      await delay(500);
    }
  }
}

async function killContainer(world: World, random: Random): Promise<string> {
  const { id } = random.pick(world.witnesses);
  const killed = await kill(await world.engine.pidOf(id).catch(() => 0));
  return `kill -9 of the container of ${id}${killed}`;
}

/** Kills only the agent; the init of its container notices. */
async function killAgent(world: World, random: Random): Promise<string> {
  const { id } = random.pick(world.witnesses);
  const init = await world.engine.pidOf(id).catch(() => 0);
  const children = await readFile(`/proc/${init}/task/${init}/children`, 'utf8').catch(() => '');
  return `kill -9 of the agent of ${id}${await kill(Number.parseInt(children, 10))}`;
}

async function kill(pid: number): Promise<string> {
  if (!(pid > 1)) return ', which had none';
  try {
    process.kill(pid, 'SIGKILL');
    return '';
  } catch {
    return ', which had just ended';
  }
}

async function killEngine(world: World, random: Random): Promise<string> {
  const ms = Math.round(random.between(0, 3_000));
  await world.engine.killDockerd();
  await delay(ms);
  await world.engine.startDockerd();
  return `kill -9 of dockerd, which is back after ${ms} ms`;
}

async function fillDisk(world: World, random: Random): Promise<string> {
  const ms = Math.round(random.between(500, 5_000));
  const file = join(world.disk, 'filler');
  const { bavail, bsize } = statfsSync(world.disk);
  try {
    // The last write is expected to fail.
    writeFileSync(file, Buffer.alloc(bavail * bsize));
    writeFileSync(`${file}-rest`, Buffer.alloc(bsize));
  } catch {
    // The disk is full.
  }
  await delay(ms);
  for (const each of [file, `${file}-rest`]) rmSync(each, { force: true });
  return `full disk for ${ms} ms`;
}

async function lockDatabase(world: World, random: Random): Promise<string> {
  const ms = Math.round(random.between(200, 4_000));
  const database = new DatabaseSync(join(world.server.data, 'belay.db'), { timeout: 5_000 });
  try {
    database.exec('begin immediate');
    await delay(ms);
    database.exec('rollback');
  } catch (error) {
    return `a lock on the database that failed: ${String(error)}`;
  } finally {
    database.close();
  }
  return `lock on the database for ${ms} ms`;
}

async function jumpClock(world: World, random: Random): Promise<string> {
  const offset = Math.round(random.between(-2, 2) * 3_600_000);
  writeFileSync(world.clock, String(offset));
  await delay(random.between(200, 3_000));
  if (random.next() < 0.5) writeFileSync(world.clock, '0');
  return `the server's clock jumps to ${Math.round(offset / 1000)} s off`;
}

async function cut(world: World, random: Random): Promise<string> {
  const { of, proxies } = someProxies(world, random);
  const times = Math.ceil(random.between(0, 5));
  for (let n = 0; n < times; n++) {
    for (const proxy of proxies) proxy.cut();
    await delay(random.between(0, 200));
  }
  return `${times} cuts of the ${of}' connections`;
}

async function freeze(world: World, random: Random): Promise<string> {
  const { of, proxies } = someProxies(world, random);
  const ms = Math.round(random.between(200, 4_000));
  for (const proxy of proxies) proxy.freeze();
  await delay(ms);
  const ends = random.next() < 0.5;
  if (ends) for (const proxy of proxies) proxy.cut();
  for (const proxy of proxies) proxy.thaw();
  return `half-open connections of ${of} for ${ms} ms, ${ends ? 'then cut' : 'then whole again'}`;
}

async function slow(world: World, random: Random): Promise<string> {
  const { of, proxies } = someProxies(world, random);
  const each = Math.round(random.between(5, 150));
  for (const proxy of proxies) proxy.slow(each);
  await delay(random.between(500, 3_000));
  for (const proxy of proxies) proxy.slow(0);
  return `connections of ${of} slower by ${each} ms a packet`;
}

function someProxies(world: World, random: Random) {
  const of = random.pick(['viewers', 'agents'] as const);
  return { of, proxies: world.proxies(of) };
}
