import { z } from 'zod';
import { file, hashOf } from '../entries.js';
import type { Task } from '../model.js';
import { pythonVerifier } from './python-program.js';
import { dataFile, readLines } from './reading.js';
import type { Suite } from './suite.js';

const problem = z.object({
  task_id: z.string(),
  prompt: z.string(),
  entry_point: z.string(),
  canonical_solution: z.string(),
  test: z.string(),
});

/** HumanEval and EvalPlus (HumanEval+ has the same fields and longer tests). */
export const humanEval: Suite = {
  name: 'human-eval',
  title: 'HumanEval',
  read: (path) =>
    readLines(dataFile(path, /^human-?eval.*\.jsonl(\.gz)?$/i)).map((line) =>
      taskOf(problem.parse(line)),
    ),
};

/** The clock starts with the container, so it has more than upstream's 3 s for a busy machine. */
export const pythonLimits = { build: 600, agent: 600, verify: 8 };

function taskOf(given: z.infer<typeof problem>): Task {
  const { task_id: id, prompt, entry_point: entry, canonical_solution: solution, test } = given;
  return {
    suite: 'human-eval',
    id,
    environment: pythonEnvironment,
    user: null,
    carries: { kind: 'files', paths: ['solution.py'] },
    scoring: 'final',
    tries: 1,
    content: hashOf('human-eval', given, pythonLimits),
    steps: [
      {
        name: 'solve',
        instruction: `Complete the function ${entry} in solution.py. Keep its signature. Write the whole program into solution.py.\n\n${prompt}`,
        files: [file('solution.py', prompt)],
        oracle: { kind: 'files', files: [file('solution.py', prompt + solution)] },
        verifier: pythonVerifier({ after: `\n${test}\ncheck(${entry})` }),
        limits: pythonLimits,
        minReward: null,
      },
    ],
  };
}

export const pythonEnvironment: Task['environment'] = {
  image: { kind: 'toolchain', name: 'base' },
  cpus: 1,
  memoryMb: 1024,
  workdir: '/app',
  env: {},
  network: 'none',
};
