import { contentHash, fileEntry, type Entry } from '../entries.js';
import type { Task, TaskEnvironment } from '../model.js';
import { evalPlusVerifier, type EvalPlusTests } from './evalplus.js';
import { pythonVerifier, type PythonProgram } from './python-program.js';

/** A problem whose answer is a Python program, solution.py. */
export interface PythonProblem {
  suite: string;
  id: string;
  instruction: string;
  /** The files that the agent gets. */
  files: Entry[];
  solution: string;
  tests: PythonProgram | EvalPlusTests;
  /** The parsed line of the data. */
  line: object;
}

/** The clock starts with the container, so a busy machine needs more than upstream's 3 s. */
const plainLimits = { build: 600, agent: 600, verify: 8 };
/** Each of thousands of inputs is a call to the answer's process. */
const longLimits = { ...plainLimits, verify: 60 };

const environment: TaskEnvironment = {
  image: { kind: 'toolchain', name: 'base' },
  cpus: 1,
  memoryMb: 1024,
  workdir: '/app',
  env: {},
  network: 'none',
};

export function pythonTask(problem: PythonProblem): Task {
  const { suite, id, instruction, files, solution, line } = problem;
  const { content, limits, verifier, more } = testedBy(problem.tests);
  return {
    suite,
    id,
    environment: { ...environment, ...more },
    user: null,
    artifacts: { kind: 'files', paths: ['solution.py'] },
    scoring: 'final',
    tries: 1,
    content: contentHash(suite, content ?? line, limits),
    steps: [
      {
        name: 'solve',
        instruction,
        files,
        oracle: { kind: 'files', files: [fileEntry('solution.py', solution)] },
        verifier,
        limits,
        minReward: null,
      },
    ],
  };
}

function testedBy(tests: PythonProblem['tests']) {
  if ('text' in tests)
    return {
      content: tests.text,
      limits: longLimits,
      verifier: evalPlusVerifier(tests),
      // EvalPlus's own limit: some right answers are lists with millions of items.
      more: { memoryMb: 4096 },
    };
  const verifier = pythonVerifier(tests);
  // Tests of EvalPlus’s data sets on Hugging Face compare numbers with numpy.
  if (!/^\s*(import|from) numpy\b/m.test(tests.tests))
    return { limits: plainLimits, verifier, more: {} };
  const image = { kind: 'toolchain', name: 'numpy' } as const;
  return { limits: longLimits, verifier, more: { image } };
}
