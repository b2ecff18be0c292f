import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { Instruction } from './prepare/steps.mjs';
import { productEnvironment, productNode, root } from './product-node.mjs';

interface Suite {
  suite: string;
  path: string;
  /** The option without which the family is skipped. */
  needs?: 'repos';
}

/** Answers from elsewhere with a known score. */
interface Fixture extends Suite {
  answers: string;
  expected: string;
  found(out: string): Record<string, unknown>;
}

interface Verified {
  family: string;
  task: string;
  nop: boolean | undefined;
  oracle: boolean | undefined;
}

interface Verdict {
  outcome: string;
  detail?: string;
}

/** The verdicts by task. */
interface Outcome {
  seconds: string;
  of: Map<string, Verdict>;
}

const agents = ['oracle', 'nop'] as const;
type Verdicts = Record<(typeof agents)[number], Outcome>;

const families: Record<string, Suite> = {
  humaneval: { suite: 'human-eval', path: 'humaneval/HumanEval.jsonl.gz' },
  mbpp: { suite: 'mbpp', path: 'mbpp' },
  polyglot: { suite: 'polyglot', path: 'polyglot' },
  'terminal-bench-v1': { suite: 'terminal-bench', path: 'terminal-bench-v1' },
  harbor: { suite: 'harbor', path: 'harbor' },
  'swebench/humanevalfix-js': { suite: 'swe-bench', path: 'swebench/humanevalfix-js.jsonl' },
  'swebench/multimodal-js': {
    suite: 'swe-bench',
    path: 'swebench/multimodal-js.jsonl',
    needs: 'repos',
  },
};

const fixtures: Record<string, Fixture> = {
  'pass-at-k': {
    suite: 'human-eval',
    path: 'humaneval/passk_problems.jsonl',
    answers: 'humaneval/passk_samples.jsonl',
    expected: 'humaneval/passk_expected.json',
    found: (out) => readJson<{ passAt: Record<string, unknown> }>(join(out, 'summary.json')).passAt,
  },
  'mixed-predictions': {
    suite: 'swe-bench',
    path: 'swebench/humanevalfix-js.jsonl',
    answers: 'swebench/predictions.mixed.jsonl',
    expected: 'swebench/fixture-model.mixed.expected.json',
    found: (out) => readJson(join(out, 'native/fixture-model.belay.json')),
  },
};

const names = [...Object.keys(families), ...Object.keys(fixtures)];

const usage = `Usage: npm run bench:suites -- --data FOLDER [--out FOLDER] [--repos FOLDER] [NAMES…]

  Runs whole suites with the reference solutions and with an agent that does nothing, and compares each verdict with
  FOLDER/verified.tsv. Names: ${names.join(', ')}; without names: all.

  --data FOLDER    the suites and verified.tsv
  --out FOLDER     keeps the runs; the same command resumes interrupted ones
  --repos FOLDER   clones of the repositories, which swebench/multimodal-js needs`;

const words: Record<string, boolean> = {
  pass: true,
  resolved: true,
  1: true,
  fail: false,
  unresolved: false,
  0: false,
};

await runCommand(async () => {
  const { values, positionals } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      data: { type: 'string' },
      out: { type: 'string' },
      repos: { type: 'string' },
    },
    allowPositionals: true,
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const unknown = positionals.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Instruction(`There is no suite ${unknown}.\n\n${usage}`);
  if (!values.data || !existsSync(join(values.data, 'verified.tsv')))
    throw new Instruction(`--data must name a folder with verified.tsv.\n\n${usage}`);
  const environment = await prepareMachine({ tests: true });
  const data = resolve(values.data);
  const out = resolve(values.out ?? mkdtempSync(join(tmpdir(), 'belay-suites-')));
  const wanted = ([name]: [string, Suite]) =>
    positionals.length === 0 || positionals.includes(name);
  try {
    const run = (name: string, agent: string, { suite, path }: Suite) =>
      evaluate({ suite, agent, data: join(data, path), out: join(out, name) }, values, environment);
    const rows = readRows(join(data, 'verified.tsv'));
    let different = 0;
    for (const [family, what] of Object.entries(families).filter(wanted)) {
      if (what.needs && !values[what.needs]) {
        console.log(`${family}: skipped, needs --${what.needs}`);
        continue;
      }
      const own = rows.filter(
        (row) => row.family === family || row.family.startsWith(`${family}/`),
      );
      const verdictsOf = (agent: keyof Verdicts) =>
        run(`${family.replace('/', '-')}-${agent}`, agent, what);
      const verdicts = { oracle: await verdictsOf('oracle'), nop: await verdictsOf('nop') };
      different += compare(family, own, verdicts);
    }
    for (const [name, what] of Object.entries(fixtures).filter(wanted)) {
      await run(name, `predictions:${join(data, what.answers)}`, what);
      different += compareFixture(name, what, { data, out: join(out, name) });
    }
    console.log(different === 0 ? '\nEvery verdict is as verified.' : `\n${different} differ.`);
    return different === 0 ? 0 : 1;
  } finally {
    if (!values.out) rmSync(out, { recursive: true, force: true });
  }
});

function readRows(path: string): Verified[] {
  const [, ...lines] = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const [family = '', task = '', nop = '', oracle = ''] = line.split('\t');
    return { family, task, nop: words[nop], oracle: words[oracle] };
  });
}

/** Runs a suite with the CLI; resolves to the verdicts by task. */
async function evaluate(
  { suite, agent, data, out }: { suite: string; agent: string; data: string; out: string },
  { repos }: { repos?: string },
  environment: object,
): Promise<Outcome> {
  const belay = join(root, 'apps/cli/bin/belay.mjs');
  const begun = performance.now();
  const args = existsSync(join(out, 'run.json'))
    ? ['resume', out]
    : ['run', suite, '--agent', agent, '--data', data, '--out', out];
  if (args[0] === 'run' && repos) args.push('--repos', resolve(repos));
  const child = spawn(productNode(), [belay, 'eval', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: productEnvironment(environment),
  });
  const [code] = await once(child, 'exit');
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  if (code !== 0) throw new Instruction(`${suite} with ${agent} ended with code ${code}.`);
  const lines = readFileSync(join(out, 'results.jsonl'), 'utf8').split('\n').filter(Boolean);
  const trials = lines.map((line) => JSON.parse(line) as { task: string; verdict: Verdict });
  return { seconds, of: new Map(trials.map(({ task, verdict }) => [task, verdict])) };
}

function compareFixture(
  name: string,
  { expected, found }: Fixture,
  { data, out }: { data: string; out: string },
): number {
  const wanted = readJson<Record<string, unknown>>(join(data, expected));
  const given = found(out);
  const wrong = Object.keys(given).filter((key) => !isDeepStrictEqual(given[key], wanted[key]));
  console.log(`${name}: ${wrong.length === 0 ? 'as expected' : `${wrong.join(', ')} differ`}`);
  return wrong.length;
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

/** Prints the differences; returns how many there are. */
function compare(family: string, rows: Verified[], verdicts: Verdicts): number {
  const compared = rows.flatMap((row) =>
    agents.map((agent) => compareRow(family, row, { agent, verdicts })),
  );
  const checked = compared.reduce((sum, each) => sum + each.checked, 0);
  const different = compared.flatMap((each) => each.different);
  const took = `oracle ${verdicts.oracle.seconds} s, nop ${verdicts.nop.seconds} s`;
  console.log(
    `${family}: ${checked - different.length} of ${checked} verdicts as verified; ${took}`,
  );
  for (const line of different) console.log(`  ${line}`);
  return different.length;
}

/** A row for all tasks counts each task. */
function compareRow(
  family: string,
  row: Verified,
  { agent, verdicts }: { agent: keyof Verdicts; verdicts: Verdicts },
): { checked: number; different: string[] } {
  const wanted = row[agent];
  if (wanted === undefined) return { checked: 0, different: [] };
  const { of } = verdicts[agent];
  const [, all] = /^all (\d+)/.exec(row.task) ?? [];
  const parts = [...row.family.slice(family.length).split('/'), row.task];
  const name = parts.filter(Boolean).join('/');
  const found = all ? [...of] : [[name, of.get(name)] as const];
  const wrong = found
    .filter(([, verdict]) => (verdict?.outcome === 'pass') !== wanted || !verdict)
    .map(([task, verdict]) => `${agent} ${task}: ${verdict?.outcome} ${verdict?.detail ?? ''}`);
  const count = Number(all ?? 1);
  const missing =
    found.length === count ? [] : [`${agent} has ${found.length} verdicts of ${count}`];
  return { checked: count, different: [...missing, ...wrong] };
}
