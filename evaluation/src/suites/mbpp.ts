import { z } from 'zod';
import { file, hashOf } from '../entries.js';
import type { Task } from '../model.js';
import { pythonEnvironment, pythonLimits } from './human-eval.js';
import { pythonVerifier } from './python-program.js';
import { dataFile, readLines } from './reading.js';
import type { Suite } from './suite.js';

const problem = z.object({
  task_id: z.number(),
  prompt: z.string(),
  code: z.string(),
  test_imports: z.array(z.string()).default([]),
  test_list: z.array(z.string()),
});

/** MBPP, sanitized. */
export const mbpp: Suite = {
  name: 'mbpp',
  title: 'MBPP',
  read: (path) =>
    readLines(dataFile(path, /mbpp.*\.jsonl?(\.gz)?$/i)).map((line) => taskOf(problem.parse(line))),
};

function taskOf(given: z.infer<typeof problem>): Task {
  const { test_imports: imports, test_list: tests } = given;
  return {
    suite: 'mbpp',
    id: `MBPP/${given.task_id}`,
    environment: pythonEnvironment,
    user: null,
    carries: { kind: 'files', paths: ['solution.py'] },
    scoring: 'final',
    tries: 1,
    content: hashOf('mbpp', given, pythonLimits),
    steps: [
      {
        name: 'solve',
        instruction: `${given.prompt}\nWrite it into solution.py. It should pass tests such as:\n\n${tests[0] ?? ''}`,
        files: [],
        oracle: { kind: 'files', files: [file('solution.py', given.code)] },
        verifier: pythonVerifier({
          before: imports.map((line) => `${line}\n`).join(''),
          after: `\n${tests.join('\n')}\n`,
        }),
        limits: pythonLimits,
        minReward: null,
      },
    ],
  };
}
