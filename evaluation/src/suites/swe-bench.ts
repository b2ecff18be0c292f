import { AppError } from '@belay/protocol';
import { file, hashOf, ownedBy } from '../entries.js';
import type { Environment, Task } from '../model.js';
import { dataFile, readLines } from './reading.js';
import type { Suite } from './suite.js';
import { parsedInstance, type Instance } from './swe-bench-instance.js';
import { judgeInstance } from './swe-bench-logs.js';
import { evaluationScript, guard, recordedExit } from './swe-bench-scripts.js';

/** SWE-bench instances of harness version 5: with their image or their files, and their evaluation script. */
export const sweBench: Suite = {
  name: 'swe-bench',
  title: 'SWE-bench',
  read: (path) =>
    readLines(dataFile(path, /^(?!predictions).*\.jsonl?$/)).map((line) =>
      taskOf(parsedInstance(line)),
    ),
};

const wholeLimits = { build: 1_800, agent: 1_800, verify: 1_800 };

function taskOf(given: Instance): Task {
  const files = Object.entries(given.base_files ?? {}).map(([path, text]) => file(path, text));
  const own = files.length > 0;
  const user = own ? 1000 : 0;
  // A repository of a few files is tested in a second; a planted bug may loop for ever.
  const limits = { ...wholeLimits, ...(own && { verify: 60 }) };
  return {
    suite: 'swe-bench',
    id: given.instance_id,
    environment: environmentOf(given),
    user: own ? '1000' : null,
    carries: { kind: 'patch' },
    scoring: 'final',
    tries: 1,
    tests: {
      FAIL_TO_PASS: given.FAIL_TO_PASS,
      PASS_TO_PASS: given.PASS_TO_PASS,
      type: given.eval_type,
    },
    content: hashOf('swe-bench', given, limits),
    steps: [
      {
        name: 'solve',
        instruction: given.problem_statement,
        files: ownedBy(files, user),
        oracle: { kind: 'patch', patch: Buffer.from(given.patch) },
        verifier: {
          files: [
            file('/verify/evaluate.sh', evaluationScript({ init: own }), 0o755),
            file('/verify/eval.sh', recordedExit(given.eval_script), 0o755),
            file('/verify/guard.cjs', guard),
          ],
          folders: [],
          command: ['bash', '/verify/evaluate.sh'],
          env: {
            HOME: '/tmp',
            ...(given.log_parser === 'console_assert' && {
              NODE_OPTIONS: '--require=/verify/guard.cjs',
            }),
          },
          user: own ? '1000' : null,
          collect: [],
          judge: (outcome) => judgeInstance(given, outcome),
        },
        limits,
        minReward: null,
      },
    ],
  };
}

function environmentOf({ base_files, ...given }: Instance): Environment {
  const common = {
    cpus: 1,
    memoryMb: 4096,
    workdir: '/testbed',
    env: {},
    network: 'none',
  } as const;
  if (base_files) return { ...common, image: { kind: 'toolchain', name: 'base' }, memoryMb: 2048 };
  const { image = null, repo, base_commit: commit, node_version: node = null } = given;
  if (image || commit)
    return { ...common, image: { kind: 'repository', image, repo, commit, node } };
  throw new AppError(
    'invalid_input',
    `${given.instance_id} has neither an image, a base_commit nor base_files: it cannot be run.`,
  );
}
