import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerTasks } from '@belay/containers';
import { nop, oracle } from './agents/baselines.js';
import type { Agent } from './agents/agent.js';
import { buildRequirements } from './engine/python-repository-image.js';
import { defaultFromMap, Images } from './engine/images.js';
import type { Task, Trial } from './model.js';
import { runTrials } from './run.js';
import type { PythonSetup } from './repository-spec.js';
import { sweBenchWith } from './suites/swe-bench.js';
import { temporary, write } from './testing/fixtures.js';

const { folder, remove } = temporary();
afterAll(remove);
const engine = new DockerTasks();
const imagesOf = (repos: string | null) =>
  new Images({
    engine,
    sandbox: process.env.BELAY_TEST_IMAGE ?? null,
    fromMap: defaultFromMap,
    repos,
  });
const signal = AbortSignal.timeout(280_000);
const built: string[] = [];
afterAll(async () => {
  for (const name of built) await engine.forget(name);
});

const clone = write(join(folder, 'repos/own/tiny'), {
  'tiny.py': 'def twice(n):\n    return n + n + 1\n',
  'checks.py':
    'import runpy, sys\nbad = 0\nfor path in sys.argv[1:]:\n    for name, test in runpy.run_path(path).items():\n        if name.startswith("test_"):\n            try:\n                test()\n                print("PASSED", path + "::" + name)\n            except AssertionError:\n                bad = 1\n                print("FAILED", path + "::" + name + " - no")\nsys.exit(bad)\n',
  'tests/test_tiny.py': 'def test_old():\n    pass\n',
  mark: 'before\n',
});
const git = (...args: string[]) =>
  execFileSync('git', ['-C', clone, '-c', 'user.name=a', '-c', 'user.email=a@a', ...args])
    .toString()
    .trim();
git('init', '-q');
git('add', '-A');
git('commit', '-q', '-m', 'one');
const commit = git('rev-parse', 'HEAD');
const changed = (changes: Record<string, string>) => {
  write(clone, changes);
  const patch = `${git('diff')}\n`;
  git('checkout', '-q', '.');
  return patch;
};

const line = {
  repo: 'own/tiny',
  instance_id: 'own__tiny-1',
  base_commit: commit,
  version: '1.0',
  patch: changed({ 'tiny.py': 'def twice(n):\n    return n + n\n' }),
  test_patch: changed({
    'tests/test_tiny.py':
      'from tiny import twice\ndef test_old():\n    pass\ndef test_twice():\n    assert twice(4) == 8\n',
  }),
  problem_statement: 'twice(4) is not 8.',
  FAIL_TO_PASS: '["tests/test_tiny.py::test_twice"]',
  PASS_TO_PASS: '["tests/test_tiny.py::test_old"]',
};

/** The task with changes to its environment, which this machine may not have. */
function taskWith(environment: Partial<PythonSetup>, more: object = {}) {
  const path = write(folder, { 'classic.jsonl': `${JSON.stringify({ ...line, ...more })}\n` });
  const [task] = sweBenchWith(() => ({
    environment: { python: '3.11', install: 'test -n "$VIRTUAL_ENV"', ...environment },
    test: 'PYTHONPATH=. python checks.py',
    logParser: 'parse_log_pytest',
  })).read(join(path, 'classic.jsonl'));
  return task!;
}

const install = 'echo installed > mark; echo "has: "$(ls /sys/class/net)';

async function trialOf(
  task: Task,
  agent: Agent,
  network: 'none' | 'declared' = 'none',
): Promise<Trial | undefined> {
  const images = imagesOf(join(folder, 'repos'));
  const [trial] = await runTrials(
    {
      tasks: [task],
      agent,
      attempts: 1,
      concurrency: 1,
      network,
      out: join(folder, `${agent.name}-${network}-${task.content}`),
      signal,
    },
    { engine, images },
  );
  built.push((await images.ensure(task.environment.image, signal)).name);
  return trial;
}

it('builds a classic instance from a clone, which `oracle` solves and `nop` does not', async () => {
  const task = taskWith({ install });
  const outcome = async (agent: Agent, network?: 'declared') => {
    const trial = await trialOf(task, agent, network);
    return [trial?.verdict.outcome, trial?.verdict.tests];
  };
  const tests = {
    'tests/test_tiny.py::test_old': 'PASSED',
    'tests/test_tiny.py::test_twice': 'PASSED',
  };
  expect(await outcome(oracle)).toEqual(['pass', tests]);
  expect(await outcome(nop)).toEqual([
    'fail',
    { ...tests, 'tests/test_tiny.py::test_twice': 'FAILED' },
  ]);
  expect(await outcome(oracle, 'declared')).toEqual(['pass', tests]);
  const interfaces = (network: string) => {
    const run = join(folder, `oracle-${network}-${task.content}`);
    const log = join(run, 'trials/own__tiny-1.1/solve/test-output.txt');
    return /^has: (.*)$/m.exec(readFileSync(log, 'utf8'))?.[1];
  };
  expect(interfaces('none')).not.toContain('eth0');
  expect(interfaces('declared')).toContain('eth0');
});

it('copies the binary files of a test patch in place of a link from the tested patch', async () => {
  const file = 'tests/image.bin';
  const bytes = Buffer.from([0, 255, 10]);
  write(folder, { [`tasks/own__tiny-1/test_assets/${file}`]: bytes });
  const link = `diff --git a/${file} b/${file}\nnew file mode 120000\n--- /dev/null\n+++ b/${file}\n@@ -0,0 +1 @@\n+../tiny.py\n\\ No newline at end of file\n`;
  const test = `from tiny import twice\ndef test_twice():\n    assert twice(4) == 8\n    assert open(${JSON.stringify(file)}, "rb").read() == bytes([0, 255, 10])\n`;
  const task = taskWith(
    { install },
    {
      patch: line.patch + link,
      test_patch: changed({ 'tests/test_tiny.py': test }),
      PASS_TO_PASS: '[]',
      image_assets: { test_patch: [{ path: file }] },
    },
  );
  expect((await trialOf(task, oracle))?.verdict.outcome).toBe('pass');
});

it('reports before a run why an environment is not available here', async () => {
  const repos = join(folder, 'repos');
  const refusal = (
    environment: Partial<PythonSetup>,
    { where = repos as string | null, more = {} } = {},
  ) => imagesOf(where).refusal(taskWith(environment, more).environment.image, signal);
  expect(await refusal({})).toBeNull();
  expect(await refusal({ python: '2.6' })).toBe(
    'own/tiny needs Python 2.6 here: pull python:2.6, or name an image that has it with --from-map python:2.6=IMAGE.',
  );
  expect(await refusal({ needs: 'a mainframe' })).toMatch(/needs a mainframe, which is not built/);
  expect(await refusal({}, { where: null })).toMatch(/no folder with a clone of own\/tiny/);
  expect(await refusal({}, { where: folder })).toMatch(/has no clone of own\/tiny/);
  const other = { base_commit: '0'.repeat(40) };
  expect(await refusal({}, { more: other })).toMatch(/does not have the commit 0000/);
});

it('reads the build requirements of a package, and none from an invalid file', () => {
  const text = '[build-system]\nrequires = ["flit_core >=3.4,<4", "--index-url=x", "a\\nb"]\n';
  expect(buildRequirements(text)).toEqual(['flit_core >=3.4,<4']);
  for (const odd of ['', 'a = [', '[build-system]\nrequires = 3\n'])
    expect(buildRequirements(odd)).toEqual([]);
});
