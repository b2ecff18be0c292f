import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { fileEntry } from '../entries.js';
import type { Task } from '../model.js';
import { evalPlusTests } from './evalplus.js';
import { pythonTask } from './python-task.js';
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

/**
 * HumanEval, and HumanEval+ with inputs, as EvalPlus publishes it, or with tests, as on Hugging
 * Face.
 */
export const humanEval: Suite = {
  name: 'human-eval',
  title: 'HumanEval',
  read: (path) =>
    tasksOfLines('human-eval', dataFile(path, /^human-?eval.*\.jsonl(\.gz)?$/i), taskOf),
};

function taskOf(value: unknown, { bytes }: Pick<Readable<unknown>, 'bytes'>): Task {
  const line = problem.parse(value);
  const { task_id: id, prompt, entry_point: entry, canonical_solution, test } = line;
  const solution = prompt + canonical_solution;
  const inputs = evalPlusTests(value, { text: bytes.toString(), reference: solution });
  if (!inputs && test === undefined)
    throw new AppError('invalid_input', `${id} has neither a test nor inputs to test it with.`);
  return pythonTask({
    suite: 'human-eval',
    id,
    instruction: `Complete the function ${entry} in solution.py. Keep its signature. Write the whole program into solution.py.\n\n${prompt}`,
    files: [fileEntry('solution.py', prompt)],
    solution,
    tests: inputs ?? {
      reference: solution,
      tests: `${test}\ncheck(${entry})`,
      names: [entry],
    },
    line,
  });
}
