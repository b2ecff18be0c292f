import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { benchTable, judge } from './bench-table.mjs';
import { inProductNode, prepareMachine, runCommand } from './prepare/machine.mjs';
import { Instruction, step } from './prepare/steps.mjs';
import { isRecent, productEnvironment, root } from './product-node.mjs';

// npm run bench [-- NUMBERS…]: each file tools/bench/NN-name.mjs measures one target of docs/benchmarks.md.
// It exports `title` and `measure()`, which answers with rows for judge(); the environment is that of the tests.
const folder = join(root, 'tools/bench');

await runCommand(async () => {
  if (!isRecent(process.version)) return inProductNode(import.meta.url);
  const chosen = choose(process.argv.slice(2));
  const environment = await prepareMachine({ tests: true });
  Object.assign(process.env, productEnvironment(environment));
  const measurements = [];
  for (const file of chosen) measurements.push(await measureFile(file));
  console.log(`\n${benchTable(measurements)}`);
  console.log(`\nWritten to ${write(measurements)}`);
  return measurements.every(({ rows }) => rows?.every((row) => row.good)) ? 0 : 1;
});

function choose(wanted) {
  const files = readdirSync(folder).filter((name) => /^\d\d-.*\.mjs$/.test(name));
  const numbers = wanted.map((text) => text.padStart(2, '0'));
  const missing = numbers.filter((number) => !files.some((file) => file.startsWith(number)));
  if (missing.length > 0) {
    const known = files.map((file) => Number(file.slice(0, 2))).join(', ');
    throw new Instruction(`There is no benchmark ${missing.join(', ')}; there are: ${known}.`);
  }
  const isWanted = (file) => numbers.length === 0 || numbers.includes(file.slice(0, 2));
  return files.filter(isWanted).sort((a, b) => (a < b ? -1 : 1));
}

/** A measurement that cannot be made stays in the table, and the command fails. */
async function measureFile(file) {
  const number = Number(file.slice(0, 2));
  const { title, measure } = await import(join(folder, file));
  try {
    const rows = await step(`${number} ${title}`, () => measure());
    return { number, title, rows: rows.map(judge) };
  } catch (error) {
    console.error(error.stack ?? error);
    return { number, title, failed: String(error.message ?? error).split('\n')[0] };
  }
}

function write(measurements) {
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryMb: Math.round(totalmem() / 2 ** 20),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
  };
  const time = new Date().toISOString();
  mkdirSync(join(root, 'bench-results'), { recursive: true });
  const path = join(root, 'bench-results', `${time.slice(0, 19).replaceAll(':', '-')}.json`);
  writeFileSync(path, `${JSON.stringify({ time, machine, measurements }, undefined, 2)}\n`);
  return path;
}
