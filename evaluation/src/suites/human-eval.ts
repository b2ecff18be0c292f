import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { fileEntry, contentHash } from '../entries.js';
import type { Task } from '../model.js';
import {
  evalPlusLimits,
  evalPlusMemory,
  evalPlusVerifier,
  hasInputs,
  numpyImage,
  usesNumpy,
} from './evalplus.js';
import { pythonVerifier } from './python-program.js';
import { dataFile, tasksOfLines } from './reading.js';
import type { Readable } from './readable-tasks.js';
import type { Suite } from './suite.js';

const problem = z.object({
  task_id: z.string(),
  prompt: z.string(),
  entry_point: z.string(),
  canonical_solution: z.string(),
  /** EvalPlus's own files have inputs instead. */
  test: z.string().optional(),
});

/** HumanEval, and HumanEval+ with inputs, as EvalPlus publishes it, or with tests, as on the hub. */
export const humanEval: Suite = {
  name: 'human-eval',
  title: 'HumanEval',
  read: (path) =>
    tasksOfLines('human-eval', dataFile(path, /^human-?eval.*\.jsonl(\.gz)?$/i), taskOf),
};

/** The clock starts with the container, so it has more than upstream's 3 s for a busy machine. */
export const pythonLimits = { build: 600, agent: 600, verify: 8 };

function taskOf(value: unknown, { bytes }: Pick<Readable<unknown>, 'bytes'>): Task {
  const given = problem.parse(value);
  const text = bytes.toString();
  const { task_id: id, prompt, entry_point: entry, canonical_solution: solution } = given;
  const { verifier, limits, more } = testsOf(given, { value, text });
  return {
    suite: 'human-eval',
    id,
    environment: { ...pythonEnvironment, ...more },
    user: null,
    artifacts: { kind: 'files', paths: ['solution.py'] },
    scoring: 'final',
    tries: 1,
    content: contentHash('human-eval', hasInputs(value) ? text : given, limits),
    steps: [
      {
        name: 'solve',
        instruction: `Complete the function ${entry} in solution.py. Keep its signature. Write the whole program into solution.py.\n\n${prompt}`,
        files: [fileEntry('solution.py', prompt)],
        oracle: { kind: 'files', files: [fileEntry('solution.py', prompt + solution)] },
        verifier,
        limits,
        minReward: null,
      },
    ],
  };
}

function testsOf(
  given: z.infer<typeof problem>,
  { value, text }: { value: unknown; text: string },
) {
  const { task_id: id, prompt, entry_point: entry, canonical_solution: solution, test } = given;
  const reference = prompt + solution;
  if (hasInputs(value))
    return {
      verifier: evalPlusVerifier({ text, line: value, reference }),
      limits: evalPlusLimits,
      more: evalPlusMemory,
    };
  if (test === undefined)
    throw new AppError('invalid_input', `${id} has neither a test nor inputs to test it with.`);
  return {
    verifier: pythonVerifier({
      reference,
      tests: `${test}\ncheck(${entry})`,
      names: [entry],
    }),
    limits: usesNumpy(test) ? evalPlusLimits : pythonLimits,
    more: usesNumpy(test) ? numpyImage : {},
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
