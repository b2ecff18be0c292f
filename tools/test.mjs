import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { step } from './prepare/steps.mjs';
import { productEnvironment, productNode, root } from './product-node.mjs';
import { countLine, countsOf, exitCodeFor, sumCounts } from './test-count.mjs';
import { temporaryRun } from './test-leftovers.mjs';

const usage = `Usage: npm test [-- JEST-OPTIONS]
       npm run test:long

  Without options: prepares the machine, runs every test that is not long, and checks types, lint, imports,
  format and docs beside them. test:long runs the long tests: the files named *.long.*.
  With options: prepares the machine and runs the tests that Jest chooses by them, long ones too, for example
    npm test -- --selectProjects server --testPathPatterns approvals
    npm test -- --testNamePattern 'plays the demo'

  npm run jest -- …  is the same without preparing anything. The last line is the count.`;

/** The names of files whose tests take long and rarely fail, as a pattern for Jest. */
const longFiles = '\\.long\\.';

/** When a long test is taken to hang, in ms; some compile in containers for minutes, beside two others. */
const longTimeout = 1_200_000;

/**
 * Jest's workers load every module again for each file. With a larger young generation, most of that is freed before it
 * is promoted, which saves a fourteenth of their processor time.
 */
const youngGeneration = '--max-semi-space-size=64';

const words = process.argv.slice(2);
if (words.some((word) => ['--help', '-h'].includes(word))) {
  console.log(usage);
  process.exit(0);
}
const onlyLong = words[0] === '--long';
const chosen = onlyLong ? words.slice(1) : words;
const isChosen = chosen.length > 0;

// The last line is always the count, so a machine that cannot be prepared counts as a failed test.
let counts = { passed: 0, failed: 1 };
await runCommand(async () => {
  const environment = await prepareMachine({ tests: true });
  const run = temporaryRun(environment.DOCKER_HOST);
  // However the run ends, its folder, processes and containers are removed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(signal, () => void run.done().then(() => process.exit(1)));
  try {
    counts = await runAll({ ...environment, TMPDIR: run.folder });
  } finally {
    await run.done();
  }
});
console.log(countLine(counts));
process.exitCode = exitCodeFor(counts);

/** The checks run in parallel with the tests, which wait more than they compute. */
async function runAll(environment) {
  const runs = [jest(environment), ...(isChosen || onlyLong ? [] : [check()])];
  return sumCounts((await Promise.all(runs)).flat());
}

/** Runs the checks in sequence, because the tests run in parallel with them. */
async function check() {
  const runs = [];
  for (const name of ['types', 'lint', 'layers', 'docs', 'format']) {
    const good = await step(`check ${name}`, async () => {
      if ((await spawned('npm', ['run', '--silent', `check:${name}`])) !== 0)
        throw new Error('failed');
      return true;
    }).catch(() => false);
    runs.push(good ? { passed: 1 } : { failed: 1 });
  }
  return runs;
}

/** Jest’s arguments: the given ones, or else those for the long tests or for all others. */
function filesOf() {
  if (isChosen) return ['--passWithNoTests', ...chosen];
  if (onlyLong) return ['--testPathPatterns', longFiles, '--testTimeout', String(longTimeout)];
  return ['--ignoreProjects', 'agents', 'kubernetes', 's3', '--testPathIgnorePatterns', longFiles];
}

async function jest(environment) {
  const folder = mkdtempSync(join(tmpdir(), 'belay-jest-'));
  const report = join(folder, 'report.json');
  try {
    const code = await spawned(
      productNode(),
      [
        youngGeneration,
        'node_modules/jest/bin/jest.js',
        '--json',
        '--outputFile',
        report,
        ...filesOf(),
      ],
      environment,
    );
    if (!existsSync(report)) return { failed: 1 };
    const counted = countsOf(JSON.parse(readFileSync(report, 'utf8')));
    // Jest also fails for reasons other than tests, such as a leaked handle.
    if (code !== 0 && counted.failed === 0) counted.failed = 1;
    return counted;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Jest’s JSON goes to a file; its standard output would repeat it. */
function spawned(command, args, environment = {}) {
  return new Promise((done, failed) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', args.includes('--json') ? 'ignore' : 'inherit', 'inherit'],
      env: productEnvironment({
        ...(process.stderr.isTTY && { FORCE_COLOR: '1' }),
        ...environment,
      }),
    });
    child.on('error', failed);
    child.on('exit', (code) => done(code ?? 1));
  });
}
