import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { Instruction } from './prepare/steps.mjs';
import { productEnvironment, productNode, root } from './product-node.mjs';

// npm run bench:suites -- --data FOLDER [FAMILY…]: runs whole suites with the reference solutions and with nothing,
// and compares each verdict with FOLDER/verified.tsv.
const families = {
  humaneval: { suite: 'human-eval', path: 'humaneval/HumanEval.jsonl.gz' },
  mbpp: { suite: 'mbpp', path: 'mbpp' },
  polyglot: { suite: 'polyglot', path: 'polyglot' },
  'terminal-bench-v1': { suite: 'terminal-bench', path: 'terminal-bench-v1' },
  harbor: { suite: 'harbor', path: 'harbor' },
  'swebench/humanevalfix-js': { suite: 'swe-bench', path: 'swebench/humanevalfix-js.jsonl' },
};

const words = { pass: true, resolved: true, 1: true, fail: false, unresolved: false, 0: false };

await runCommand(async () => {
  const { values, positionals } = parseArgs({
    options: { data: { type: 'string' } },
    allowPositionals: true,
  });
  if (!values.data || !existsSync(join(values.data, 'verified.tsv')))
    throw new Instruction('Name a folder with verified.tsv: npm run bench:suites -- --data FOLDER');
  const environment = await prepareMachine({ tests: true });
  const data = resolve(values.data);
  const rows = readRows(join(data, 'verified.tsv'));
  let different = 0;
  for (const [family, { suite, path }] of Object.entries(families)) {
    if (positionals.length > 0 && !positionals.includes(family)) continue;
    const own = rows.filter((row) => row.family === family || row.family.startsWith(`${family}/`));
    const verdicts = {};
    const seconds = {};
    for (const agent of ['oracle', 'nop']) {
      const begun = performance.now();
      verdicts[agent] = await evaluate({ suite, agent, data: join(data, path) }, environment);
      seconds[agent] = ((performance.now() - begun) / 1000).toFixed(0);
    }
    different += compare(family, own, { verdicts, seconds });
  }
  console.log(different === 0 ? '\nEvery verdict is as verified.' : `\n${different} differ.`);
  return different === 0 ? 0 : 1;
});

function readRows(path) {
  const [, ...lines] = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const [family, task, nop, oracle] = line.split('\t');
    return { family, task, nop: words[nop], oracle: words[oracle] };
  });
}

/** Verdicts by task, from a run of the command line that users have. */
async function evaluate({ suite, agent, data }, environment) {
  const out = mkdtempSync(join(tmpdir(), 'belay-suites-'));
  try {
    const belay = join(root, 'apps/cli/bin/belay.mjs');
    const args = ['eval', 'run', suite, '--agent', agent, '--data', data, '--out', out];
    await new Promise((done, failed) => {
      const child = spawn(productNode(), [belay, ...args], {
        stdio: ['ignore', 'ignore', process.stderr.isTTY ? 'inherit' : 'ignore'],
        env: productEnvironment(environment),
      });
      child.on('error', failed);
      child.on('exit', done);
    });
    const results = join(out, 'results.jsonl');
    const lines = existsSync(results) ? readFileSync(results, 'utf8').split('\n') : [];
    return new Map(
      lines
        .filter(Boolean)
        .map((line) => JSON.parse(line))
        .map(({ task, verdict }) => [task, verdict]),
    );
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** Prints what differs; answers with how many. A row for all tasks counts each of them. */
function compare(family, rows, { verdicts, seconds }) {
  let checked = 0;
  const different = [];
  for (const row of rows) {
    const count = Number(/^all (\d+)/.exec(row.task)?.[1] ?? 0);
    const name = [...row.family.slice(family.length).split('/'), row.task]
      .filter(Boolean)
      .join('/');
    for (const agent of ['oracle', 'nop']) {
      if (row[agent] === undefined) continue;
      const found = count > 0 ? [...verdicts[agent]] : [[name, verdicts[agent].get(name)]];
      checked += count || 1;
      if (count > 0 && found.length !== count)
        different.push(`${agent} has ${found.length} verdicts of ${count}`);
      for (const [task, verdict] of found)
        if (!verdict || (verdict.outcome === 'pass') !== row[agent])
          different.push(`${agent} ${task}: ${verdict?.outcome} ${verdict?.detail ?? ''}`);
    }
  }
  const took = `oracle ${seconds.oracle} s, nop ${seconds.nop} s`;
  console.log(
    `${family}: ${checked - different.length} of ${checked} verdicts as verified; ${took}`,
  );
  for (const line of different) console.log(`  ${line}`);
  return different.length;
}
