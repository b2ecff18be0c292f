import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { step } from './prepare/steps.mjs';
import { productEnvironment, productNode, root } from './product-node.mjs';
import { countLine, countsOf, exitCodeFor, sumCounts } from './test-count.mjs';

/** Jest's projects that need containers or a browser: they come last, two files at a time. */
const heavy = ['containers', 'attacks', 'e2e'];

const usage = `Usage: npm test [-- JEST-OPTIONS]

  Without options: prepares the machine, checks types, lint, format and docs, and runs every test.
  With options: prepares the machine and runs the tests that Jest chooses by them, for example
    npm test -- --selectProjects server --testPathPatterns approvals
    npm test -- --testNamePattern 'plays the demo'

  npm run jest -- …  is the same without preparing anything. The last line is the count.`;

if (process.argv.slice(2).some((word) => ['--help', '-h'].includes(word))) {
  console.log(usage);
  process.exit(0);
}

// Whatever goes wrong, the last line is the count: a machine that cannot be prepared is a failed test too.
let counts = { passed: 0, failed: 1 };
const chosen = process.argv.slice(2);
await runCommand(async () => {
  const environment = await prepareMachine({ tests: true });
  counts = await runAll(environment);
});
console.log(countLine(counts));
process.exitCode = exitCodeFor(counts);

/** Arguments go to jest; then only what they choose runs, without the checks. */
async function runAll(environment) {
  const runs = [];
  if (chosen.length === 0) runs.push(...(await check()));
  const known = projects();
  const light = known.filter((name) => !heavy.includes(name));
  const groups = chosen.includes('--selectProjects')
    ? [{ names: [], args: ['--runInBand'] }]
    : [
        { names: light, args: [] },
        { names: heavy, args: ['--maxWorkers=2'] },
      ];
  for (const { names, args } of groups) runs.push(await jest(names, args, environment));
  return sumCounts(runs);
}

/** The formatter works on one core, so the other checks run beside it. */
async function check() {
  const groups = [['types', 'lint', 'layers', 'docs'], ['format']];
  return (await Promise.all(groups.map(oneByOne))).flat();
}

async function oneByOne(names) {
  const runs = [];
  for (const name of names) {
    const good = await step(`check ${name}`, async () => {
      if ((await spawned('npm', ['run', '--silent', `check:${name}`])) !== 0)
        throw new Error('failed');
      return true;
    }).catch(() => false);
    runs.push(good ? { passed: 1 } : { failed: 1 });
  }
  return runs;
}

async function jest(names, args, environment) {
  const folder = mkdtempSync(join(tmpdir(), 'belay-jest-'));
  const report = join(folder, 'report.json');
  try {
    const code = await spawned(
      productNode(),
      [
        '--experimental-vm-modules',
        '--no-warnings=ExperimentalWarning',
        'node_modules/jest/bin/jest.js',
        ...(names.length > 0 ? ['--selectProjects', ...names] : []),
        ...args,
        ...(chosen.length > 0 ? ['--passWithNoTests'] : []),
        '--json',
        '--outputFile',
        report,
        ...chosen,
      ],
      environment,
    );
    if (!existsSync(report)) return { failed: 1 };
    const counted = countsOf(JSON.parse(readFileSync(report, 'utf8')));
    // Jest also fails for what is no test, such as a leaked handle that ended it.
    if (code !== 0 && counted.failed === 0) counted.failed = 1;
    return counted;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function projects() {
  const source = readFileSync(join(root, 'jest.config.cjs'), 'utf8');
  return [...source.matchAll(/project\(\s*'([\w-]+)'/g)].map((match) => match[1]);
}

/** Jest's JSON goes to its file; its own standard output would repeat it. */
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
