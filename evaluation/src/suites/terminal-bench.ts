import { parse } from 'yaml';
import { z } from 'zod';
import { fileEntry, folderEntry, contentHash, type Entry } from '../entries.js';
import {
  fail,
  pass,
  type Oracle,
  type VerifierOutput,
  type Task,
  type Verdict,
  type Verifier,
} from '../model.js';
import { labelsOf } from './labels.js';
import { entriesBelow, tasksOfFolders, fileText, type TaskFolder } from './reading.js';
import type { Suite } from './suite.js';
import { isKilled, pytestChecks, sealedCounts, sealFiles, withPytestPlugin } from './seal.js';

const description = z.object({
  instruction: z.string(),
  parser_name: z.string().default('pytest'),
  max_agent_timeout_sec: z.number().default(360),
  max_test_timeout_sec: z.number().default(60),
  category: z.string().optional().catch(undefined),
  difficulty: z.string().optional().catch(undefined),
});

/** The task layout of Terminal-Bench 1. */
export const terminalBench: Suite = {
  name: 'terminal-bench',
  title: 'Terminal-Bench 1',
  read: (path) => tasksOfFolders({ suite: 'terminal-bench', path, marker: 'task.yaml' }, taskOf),
};

/** Files that are never in an image: the answer and the tests. */
const hidden = /^(solution\.(sh|yaml)|run-tests\.sh|task\.yaml|docker-compose\.yaml|tests\/)/;

function taskOf({ name, files }: TaskFolder): Task {
  const given = description.parse(parse(fileText(files, 'task.yaml') ?? '', { logLevel: 'error' }));
  const context = [...files.values()].filter(({ path }) => !hidden.test(path));
  const limits = {
    build: 1_200,
    agent: given.max_agent_timeout_sec,
    verify: given.max_test_timeout_sec,
  };
  const script = fileText(files, 'run-tests.sh') ?? 'uvx pytest $TEST_DIR/test_outputs.py -rA\n';
  const verifier: Verifier = {
    files: [
      folderEntry('/tests'),
      ...entriesBelow(files, 'tests/').map((entry) => ({ ...entry, path: `/tests/${entry.path}` })),
      fileEntry('/tests/run-tests.sh', script, 0o755),
      ...sealFiles('belay_seal.py'),
    ],
    folders: ['/logs', '/agent-logs'],
    command: withPytestPlugin(['bash', '/tests/run-tests.sh']),
    sealed: true,
    env: { TEST_DIR: '/tests' },
    user: null,
    collect: [],
    judge: judgePytest,
  };
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
    artifacts: { kind: 'container' },
    scoring: 'final',
    tries: 1,
    labels: labelsOf(given),
    content: contentHash('terminal-bench', [...files.values()]),
    unsupported:
      given.parser_name === 'pytest'
        ? null
        : `The parser ${given.parser_name} is not supported; only pytest is.`,
    steps: [
      {
        name: 'solve',
        instruction: given.instruction,
        files: [],
        oracle: oracleOf(files),
        verifier: { ...verifier, ...pytestChecks(verifier) },
        limits,
        minReward: null,
      },
    ],
  };
}

function oracleOf(files: Map<string, Entry>): Oracle {
  const script =
    fileText(files, 'solution.sh') ?? typedSolution(fileText(files, 'solution.yaml') ?? '[]');
  return {
    kind: 'script',
    files: [folderEntry('/oracle'), fileEntry('/oracle/solution.sh', script, 0o755)],
    command: ['bash', '/oracle/solution.sh'],
    env: {},
  };
}

/** A solution typed into a terminal, as a script that waits for each command. */
function typedSolution(yaml: string): string {
  const commands = z
    .array(z.object({ command: z.string() }))
    .parse(parse(yaml, { logLevel: 'error' }));
  return commands.map(({ command }) => `${command}\n`).join('');
}

/**
 * Terminal-Bench's verdict from the summary that pytest prints, which must agree with pytest's own
 * report.
 */
export function judgePytest(given: VerifierOutput): Verdict {
  if (isKilled(given)) return fail('The test script was killed.', 'no_result');
  const tests = pytestSummary(given.output);
  if (!tests) return fail('pytest printed no summary.', 'no_result');
  const results = Object.values(tests);
  if (results.length === 0) return fail('The summary lists no test.', 'no_result');
  const bad = results.filter((result) => !['PASSED', 'SKIPPED', 'XFAIL'].includes(result));
  if (bad.length > 0)
    return fail(`${bad.length} of ${results.length} tests failed.`, 'wrong', { tests });
  const counts = sealedCounts(given);
  if (!counts || counts.failed > 0 || counts.tests < results.length)
    return fail('The printed summary differs from pytest’s own report.', 'no_result', { tests });
  return pass(`${results.length} tests passed.`, { tests });
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
