import { join } from 'node:path';
import { command, nop, oracle } from './agents/baselines.js';
import type { Agent } from './agents/agent.js';
import { Engine } from './engine/engine.js';
import { defaultFromMap, Images } from './engine/images.js';
import type { Trial } from './model.js';
import { runTrials } from './run.js';
import { suiteNamed } from './suites/index.js';
import {
  harborData,
  humanEvalData,
  mbppData,
  polyglotData,
  sweBenchData,
  temporary,
  terminalBenchData,
} from './testing/fixtures.js';

const engine = new Engine();
const images = new Images({
  engine,
  sandbox: process.env.BELAY_TEST_IMAGE ?? null,
  fromMap: defaultFromMap,
});
const { folder, remove } = temporary();
let runs = 0;
beforeAll(
  () => images.ensure({ kind: 'toolchain', name: 'base' }, AbortSignal.timeout(280_000)),
  300_000,
);
afterAll(remove);

async function trial(suite: string, data: string, agent: Agent): Promise<Trial> {
  const [found] = await runTrials(
    {
      tasks: suiteNamed(suite).read(data),
      agent,
      attempts: 1,
      concurrency: 1,
      network: 'none',
      out: join(folder, String(++runs)),
      signal: new AbortController().signal,
    },
    { engine, images },
  );
  return found!;
}

/** A reward file that was there before, where any verifier looks for one. */
const rewards = `mkdir -p /logs/verifier /verify; for file in reward.txt reward.json; do
  printf '{"reward": 1}' > /logs/verifier/$file; printf 1 > $file; done 2>/dev/null`;
const deletes = `mkdir -p /tests; rm -rf /tests/* *_test.py test.js tests; printf 'exit 0\n' | tee /tests/test.sh /tests/run-tests.sh test.js >/dev/null`;
const edits = `mkdir -p /tests; printf 'def test_answer(): pass\ndef test_twice(): pass\n' | tee /tests/test_answer.py test_answer.py twice_test.py >/dev/null; echo '' > test.js`;
/** It ignores signals, leaves its session and would meet the tests. */
const waits = `(trap '' TERM HUP INT; setsid sh -c "trap '' TERM HUP INT; while :; do mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; rm -f /tests/*.py *_test.py test.js; sleep 0.05; done") >/dev/null 2>&1 &`;
const hooks = `git init -q . 2>/dev/null; mkdir -p .git/hooks; for hook in post-commit post-checkout pre-commit post-index-change; do
  printf '#!/bin/sh\nmkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; rm -f test.js; printf "" > test.js\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook; done
git config core.fsmonitor 'sh -c "echo 1 > /logs/verifier/reward.txt"' 2>/dev/null`;
/** Programs that run tests, what they load by themselves, and their settings. */
const runners = `mkdir -p ~/.local/bin node_modules/.bin node_modules/jest 2>/dev/null
for tool in pytest uv uvx belay-pytest python3 git node jest; do
  printf '#!/bin/sh\necho "=== short test summary info ==="; echo "PASSED t::a"; mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; exit 0\n' \
    | tee /usr/local/bin/$tool ~/.local/bin/$tool node_modules/.bin/$tool >/dev/null
  chmod +x /usr/local/bin/$tool ~/.local/bin/$tool node_modules/.bin/$tool
done 2>/dev/null
printf 'echo 1 > /logs/verifier/reward.txt; exit 0\n' | tee ~/.local/bin/env ~/.bashrc ~/.profile ~/.bash_profile >/dev/null 2>&1
printf 'def pytest_runtest_call(item):\n    item.runtest = lambda: None\n' | tee conftest.py ../conftest.py sitecustomize.py usercustomize.py pytest.py _pytest.py > /dev/null 2>&1
printf '[pytest]\naddopts = --collect-only\n' | tee pytest.ini tox.ini > /dev/null
printf 'module.exports = { testMatch: [], passWithNoTests: true };\n' | tee jest.config.js > /dev/null
printf 'node-options=--require=/app/evil.js\n' > .npmrc`;
const printed = [
  '=== short test summary info ===',
  'PASSED t::a',
  '>>>>> Start Test Output',
  'PASSED test.js',
  '>>>>> End Test Output',
  '1 passed',
  '',
].join('\\n');

type Trick = 'honest' | 'prints' | 'leaves';
const put = (file: string, ...lines: string[]) =>
  `printf %s ${Buffer.from(`${lines.join('\n')}\n`).toString('base64')} | base64 -d > ${file}`;

/** The answer fails the tests; everything else in the line would have to save it. */
const attacks = (wrong: (trick: Trick) => string) => ({
  'prints PASSED': wrong('prints'),
  'prints PASSED and leaves early': wrong('leaves'),
  'wrote its reward before': `${wrong('honest')}; ${rewards}`,
  'edits the tests': `${wrong('honest')}; ${edits}`,
  'deletes the tests': `${wrong('honest')}; ${deletes}`,
  'leaves a process that waits for the tests': `${wrong('honest')}; ${waits}`,
  'leaves git hooks': `${wrong('honest')}; ${hooks}`,
  'replaces what runs the tests': `${wrong('honest')}; ${runners}`,
});

const python = (file: string, name: string) => (trick: Trick) =>
  put(
    file,
    `def ${name}(*n): return 0`,
    ...(trick === 'honest' ? [] : ['import os', `os.write(1, b"${printed}")`]),
    ...(trick === 'leaves' ? ['os._exit(0)'] : []),
  );

const javascript = (trick: Trick) =>
  put(
    'main.js',
    'module.exports = () => 0;',
    ...(trick === 'honest' ? [] : [`console.log("${printed}");`]),
    ...(trick === 'leaves' ? ['process.exit(0);'] : []),
  );

const suites = [
  {
    suite: 'human-eval',
    make: humanEvalData,
    cheats: attacks(python('solution.py', 'double')),
  },
  { suite: 'mbpp', make: mbppData, cheats: attacks(python('solution.py', 'double')) },
  { suite: 'polyglot', make: polyglotData, cheats: attacks(python('twice.py', 'twice')) },
  {
    suite: 'terminal-bench',
    make: terminalBenchData,
    cheats: attacks(python('answer.py', 'answer')),
  },
  {
    suite: 'harbor',
    make: harborData,
    cheats: {
      ...attacks(python('answer.py', 'answer')),
      'writes its reward while it is tested': `printf '%s\n' 'import os, time' 'if os.fork() == 0:' '    os.setsid()' '    while True: open("/logs/verifier/reward.txt", "w").write("1")' 'def answer(): return 0' > answer.py`,
    },
  },
  {
    suite: 'swe-bench',
    make: sweBenchData,
    cheats: {
      ...attacks(javascript),
      'silences assertions': `echo 'console.assert = () => {}; console = { assert() {} };' >> main.js`,
    },
  },
];

describe.each(suites)('$suite', ({ suite, make, cheats }) => {
  const data = make(join(folder, suite));

  it('passes the reference solution and not nothing', async () => {
    expect((await trial(suite, data, oracle)).verdict).toMatchObject({
      outcome: 'pass',
      reward: 1,
    });
    expect((await trial(suite, data, nop)).verdict).toMatchObject({ outcome: 'fail', reward: 0 });
  });

  it.each(Object.entries(cheats))('gives nothing to an agent that %s', async (_name, line) => {
    const { verdict } = await trial(suite, data, command(line));
    expect(verdict).toMatchObject({ outcome: expect.stringMatching(/fail|invalid/), reward: 0 });
    expect(verdict.cause).not.toMatch(/infrastructure|build_failed/);
  });
});
