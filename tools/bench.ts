import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { benchTable, judgeRow, type Measurement, type Row } from './bench-table.ts';
import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { Instruction, step } from './prepare/steps.mjs';
import { productEnvironment, root } from './product-node.mjs';

// npm run bench [-- NUMBERS…]: each file tools/bench/NN-name.ts measures one target of
// docs/benchmarks.md. The environment is that of the tests.
interface Benchmark {
  title: string;
  measure(): Promise<Row[]>;
}

const folder = join(root, 'tools/bench');

await runCommand(async () => {
  const wanted = process.argv.slice(2);
  if (wanted.some((word) => ['--help', '-h'].includes(word))) return help();
  const chosen = choose(wanted);
  const environment = await prepareMachine({ tests: true });
  Object.assign(process.env, productEnvironment(environment));
  const measured: Measurement[] = [];
  const write = resultsFile();
  for (const file of chosen) {
    const measurement = await measureFile(file);
    measured.push(measurement);
    // Reported after each measurement, so that a later crash loses nothing.
    console.log(`\n${benchTable([measurement])}\n`);
    write(measured);
  }
  console.log(`\n${benchTable(measured)}`);
  console.log(`\nWritten to ${write(measured)}`);
  return measured.every(({ rows }) => rows?.every((row) => row.good)) ? 0 : 1;
});

function benchFiles(): string[] {
  const files = readdirSync(folder).filter((name) => /^\d\d-.*\.ts$/.test(name));
  return files.sort((a, b) => (a < b ? -1 : 1));
}

function help(): number {
  console.log(
    'Usage: npm run bench [-- NUMBERS…]   measures these, or all; see docs/benchmarks.md\n',
  );
  for (const file of benchFiles())
    console.log(`  ${String(Number(file.slice(0, 2))).padStart(2)}  ${file.slice(3, -3)}`);
  return 0;
}

function choose(wanted: string[]): string[] {
  const files = benchFiles();
  const numbers = wanted.map((text) => text.padStart(2, '0'));
  const missing = numbers.filter((number) => !files.some((file) => file.startsWith(number)));
  if (missing.length > 0) {
    const known = files.map((file) => Number(file.slice(0, 2))).join(', ');
    throw new Instruction(`There is no benchmark ${missing.join(', ')}; there are: ${known}.`);
  }
  return files.filter((file) => numbers.length === 0 || numbers.includes(file.slice(0, 2)));
}

/**
 * A failed measurement stays in the table and makes the command fail. The file is imported here
 * because it needs the built product.
 */
async function measureFile(file: string): Promise<Measurement> {
  const number = Number(file.slice(0, 2));
  let title = file;
  try {
    const benchmark = (await import(join(folder, file))) as Benchmark;
    ({ title } = benchmark);
    const rows = await step(`${number} ${title}`, () => benchmark.measure());
    return { number, title, rows: rows.map(judgeRow) };
  } catch (error) {
    console.error(error);
    return { number, title, failed: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}

/** The results file of this run: each call writes all measurements so far, and returns its path. */
function resultsFile(): (measurements: Measurement[]) => string {
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
  return (measurements) => {
    const text = JSON.stringify({ time, machine, measurements }, undefined, 2);
    writeFileSync(path, `${text}\n`);
    return path;
  };
}
