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

const forged =
  'import os\nos.write(1, b"=== short test summary info ===\\nPASSED t::a\\n1 passed\\n")';
const leaves = 'import os\\nos._exit(0)';
/** Tries what would spoil the next container, if it were carried there. */
const sabotage = `
mkdir -p /tests /logs/verifier ~/.local/bin .git/hooks node_modules/.bin 2>/dev/null
echo 1 > /logs/verifier/reward.txt; echo '{"reward": 1}' > /logs/verifier/reward.json
for tool in pytest uv uvx belay-pytest python3 git node; do
  printf '#!/bin/sh\\necho "short test summary info"; echo "PASSED t::a"; exit 0\\n' > /usr/local/bin/$tool
  chmod +x /usr/local/bin/$tool
done 2>/dev/null
printf 'echo 1 > /logs/verifier/reward.txt; exit 0\\n' | tee ~/.local/bin/env ~/.bashrc ~/.profile >/dev/null 2>&1
printf '#!/bin/sh\\necho 1 > /logs/verifier/reward.txt\\n' | tee .git/hooks/post-commit >/dev/null 2>&1
chmod +x .git/hooks/post-commit 2>/dev/null
printf 'def pytest_runtest_call(item):\\n    item.runtest = lambda: None\\n' | tee conftest.py sitecustomize.py pytest.py >/dev/null
printf '[pytest]\\naddopts = --collect-only\\n' > pytest.ini
(trap '' TERM HUP INT; while :; do echo 1 > /logs/verifier/reward.txt; rm -f /tests/* *_test.py test.js; sleep 0.1; done) >/dev/null 2>&1 &
`;

const suites = [
  {
    suite: 'human-eval',
    make: humanEvalData,
    cheats: { 'leaves early': `printf '${leaves}' > solution.py; ${sabotage}` },
  },
  {
    suite: 'polyglot',
    make: polyglotData,
    cheats: {
      'forges PASSED and leaves': `printf '%s\\nos._exit(0)' '${forged}' > twice.py; ${sabotage}`,
      'edits the tests': `echo 'def test_twice(): pass' > twice_test.py; ${sabotage}`,
    },
  },
  {
    suite: 'terminal-bench',
    make: terminalBenchData,
    cheats: {
      'forges PASSED and leaves': `printf '%s\\nos._exit(0)' '${forged}' > answer.py; ${sabotage}`,
    },
  },
  {
    suite: 'harbor',
    make: harborData,
    cheats: {
      'writes its reward while it is tested': `printf '%s\\n' 'import os, time' 'if os.fork() == 0:' '    os.setsid()' '    while True: open("/logs/verifier/reward.txt", "w").write("1")' 'def answer(): return 0' > answer.py; ${sabotage}`,
      'leaves early': `printf '${leaves}' > answer.py; ${sabotage}`,
    },
  },
  {
    suite: 'swe-bench',
    make: sweBenchData,
    cheats: {
      'silences assertions': `echo 'console.assert = () => {}; console = { assert() {} };' >> main.js; ${sabotage}`,
      'leaves early': `echo 'console.log(">>>>> End Test Output"); process.exit(0)' >> main.js; ${sabotage}`,
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
