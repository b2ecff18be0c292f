import { AppError } from '@belay/protocol';
import { z } from 'zod';
import type { Task } from '../model.js';
import { evalPlusTests } from './evalplus.js';
import type { PythonProgram } from './python-program.js';
import { pythonTask } from './python-task.js';
import { dataFile, tasksOfLines } from './reading.js';
import type { Readable } from './readable-tasks.js';
import type { Suite } from './suite.js';

/** The full set has `text` and `test_setup_code`, the sanitized one `prompt` and `test_imports`. */
const problem = z.object({
  task_id: z.union([z.number(), z.string()]),
  prompt: z.string().optional(),
  text: z.string().optional(),
  code: z.string().optional(),
  canonical_solution: z.string().optional(),
  entry_point: z.string().optional(),
  assertion: z.string().optional(),
  test_imports: z.array(z.string()).default([]),
  test_setup_code: z.string().default(''),
  test_list: z.array(z.string()).default([]),
  /** The tests of MBPP+, as on Hugging Face. */
  test: z.string().optional(),
});
type Problem = z.infer<typeof problem>;

/**
 * MBPP, full and sanitized, and MBPP+ with inputs, as EvalPlus publishes it, or with tests, as on
 * Hugging Face.
 */
export const mbpp: Suite = {
  name: 'mbpp',
  title: 'MBPP',
  read: (path) => tasksOfLines('mbpp', dataFile(path, /mbpp.*\.jsonl?(\.gz)?$/i), taskOf),
};

function taskOf(value: unknown, { bytes }: Pick<Readable<unknown>, 'bytes'>): Task {
  const line = problem.parse(value);
  const id = typeof line.task_id === 'number' ? `MBPP/${line.task_id}` : line.task_id;
  const solution = line.code ?? line.canonical_solution;
  if (solution === undefined)
    throw new AppError('invalid_input', `${id} has no reference solution (code).`);
  const inputs = evalPlusTests(value, { text: bytes.toString(), reference: solution });
  return pythonTask({
    suite: 'mbpp',
    id,
    instruction: instructionOf(line),
    files: [],
    solution,
    tests: inputs ?? programOf(id, solution, line),
    line,
  });
}

function programOf(id: string, reference: string, line: Problem): PythonProgram {
  const { test, test_setup_code: setup, test_list: list, test_imports } = line;
  if (test === undefined && list.length === 0)
    throw new AppError('invalid_input', `${id} has neither tests nor inputs to test it with.`);
  const imports = [...test_imports, ...setup.split(/\r?\n/).filter(isImport)];
  return {
    before: imports.map((each) => `${each}\n`).join(''),
    reference,
    // The setup code may use names that the solution defines.
    tests: `${setup}\n${test ?? list.join('\n')}\n`,
  };
}

const isImport = (line: string) => /^(import|from)\s/.test(line);

function instructionOf({ prompt, text, entry_point: entry, ...given }: Problem): string {
  const task = (prompt ?? text ?? '').trim().replace(/^("""|''')|("""|''')$/g, '');
  const named = entry ? `\nThe function is called ${entry}.` : '';
  const shown = given.test_list[0] ?? given.assertion?.trim().split('\n')[0];
  const example = shown ? ` It should pass tests such as:\n\n${shown}` : '';
  return `${task.trim()}${named}\nWrite it into solution.py.${example}`;
}
