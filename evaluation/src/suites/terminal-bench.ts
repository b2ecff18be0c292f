import { parse } from 'yaml';
import { z } from 'zod';
import { file, folder, hashOf, type Entry } from '../entries.js';
import {
  failed,
  invalid,
  passed,
  type Oracle,
  type Outcome,
  type Task,
  type Verdict,
} from '../model.js';
import { below, readFolders, textOf, type TaskFolder } from './reading.js';
import type { Suite } from './suite.js';
import { junitCounts } from './test-reports.js';

const description = z.object({
  instruction: z.string(),
  parser_name: z.string().default('pytest'),
  max_agent_timeout_sec: z.number().default(360),
  max_test_timeout_sec: z.number().default(60),
});

/** The task layout of Terminal-Bench 1. */
export const terminalBench: Suite = {
  name: 'terminal-bench',
  title: 'Terminal-Bench 1',
  read: (path) => readFolders(path, 'task.yaml').map(taskOf),
};

/** Never in an image: the answer and the tests. */
const hidden = /^(solution\.(sh|yaml)|run-tests\.sh|task\.yaml|docker-compose\.yaml|tests\/)/;

/** pytest writes it by itself; its random name is known to nobody before the tests run. */
const report = '/verify-{proof}/report.xml';

function taskOf({ name, files }: TaskFolder): Task {
  const given = description.parse(parse(textOf(files, 'task.yaml') ?? ''));
  const context = [...files.values()].filter(({ path }) => !hidden.test(path));
  const limits = {
    build: 1_200,
    agent: given.max_agent_timeout_sec,
    verify: given.max_test_timeout_sec,
  };
  const script = textOf(files, 'run-tests.sh') ?? 'uvx pytest $TEST_DIR/test_outputs.py -rA\n';
  return {
    suite: 'terminal-bench',
    id: name,
    environment: {
      image: { kind: 'build', files: context },
      cpus: 1,
      memoryMb: 2048,
      workdir: null,
      env: { TEST_DIR: '/tests' },
      network: 'bridge',
    },
    user: null,
    carries: { kind: 'container' },
    scoring: 'final',
    tries: 1,
    content: hashOf('terminal-bench', [...files.values()]),
    steps: [
      {
        name: 'solve',
        instruction: given.instruction,
        files: [],
        oracle: oracleOf(files),
        verifier: {
          files: [
            folder('/tests'),
            ...below(files, 'tests/').map((entry) => ({ ...entry, path: `/tests/${entry.path}` })),
            file('/tests/run-tests.sh', script, 0o755),
          ],
          folders: ['/logs', '/agent-logs', '/verify-{proof}'],
          command: ['bash', '/tests/run-tests.sh'],
          env: { TEST_DIR: '/tests', PYTEST_ADDOPTS: `--junitxml=${report}` },
          user: null,
          collect: [report],
          judge: given.parser_name === 'pytest' ? judgePytest : unknownParser(given.parser_name),
        },
        limits,
        minReward: null,
      },
    ],
  };
}

function oracleOf(files: Map<string, Entry>): Oracle {
  const script =
    textOf(files, 'solution.sh') ?? typedSolution(textOf(files, 'solution.yaml') ?? '[]');
  return {
    kind: 'script',
    files: [folder('/oracle'), file('/oracle/solution.sh', script, 0o755)],
    command: ['bash', '/oracle/solution.sh'],
    env: {},
  };
}

/** A solution that is typed into a terminal, as a script: each command is waited for. */
function typedSolution(yaml: string): string {
  const commands = z.array(z.object({ command: z.string() })).parse(parse(yaml));
  return commands.map(({ command }) => `${command}\n`).join('');
}

const unknownParser = (name: string) => (): Verdict =>
  invalid('no_result', `The parser ${name} is not known; pytest is.`);

/** Terminal-Bench's verdict by the summary that pytest prints, which must agree with pytest's own report. */
export function judgePytest({ output, files }: Outcome): Verdict {
  const tests = pytestSummary(output);
  if (!tests) return failed('There is no summary of pytest.', 'no_result');
  const results = Object.values(tests);
  if (results.length === 0) return failed('The summary lists no test.', 'no_result');
  const bad = results.filter((result) => !['PASSED', 'SKIPPED', 'XFAIL'].includes(result));
  if (bad.length > 0)
    return failed(`${bad.length} of ${results.length} tests failed.`, 'wrong', { tests });
  const counts = junitCounts(files.get(report));
  if (!counts || counts.failed > 0 || counts.tests < results.length)
    return failed('What was printed is not what pytest reports.', 'no_result', { tests });
  return passed(`${results.length} tests passed.`, { tests });
}

/** Results by test id, from the last summary in the output. */
export function pytestSummary(output: string): Record<string, string> | undefined {
  const at = output.lastIndexOf('short test summary info');
  if (at < 0) return undefined;
  const tests: Record<string, string> = {};
  for (const [, result = '', test = ''] of output
    .slice(at)
    .matchAll(/^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\s+(\S+)/gm))
    tests[test] = result;
  return tests;
}
