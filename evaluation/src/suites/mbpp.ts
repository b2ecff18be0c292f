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
import { pythonEnvironment, pythonLimits } from './human-eval.js';
import { pythonVerifier } from './python-program.js';
import { dataFile, tasksOfLines } from './reading.js';
import type { Readable } from './readable-tasks.js';
import type { Suite } from './suite.js';

/** `text` and `test_setup_code` are of the full set, `prompt` and `test_imports` of the sanitized one. */
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
  /** The tests of MBPP+, as on the hub. */
  test: z.string().optional(),
});
type Problem = z.infer<typeof problem>;

/** MBPP, whole and sanitized, and MBPP+ with inputs, as EvalPlus publishes it, or with tests, as on the hub. */
export const mbpp: Suite = {
  name: 'mbpp',
  title: 'MBPP',
  read: (path) => tasksOfLines('mbpp', dataFile(path, /mbpp.*\.jsonl?(\.gz)?$/i), taskOf),
};

function taskOf(value: unknown, { bytes }: Pick<Readable<unknown>, 'bytes'>): Task {
  const given = problem.parse(value);
  const text = bytes.toString();
  const id = typeof given.task_id === 'number' ? `MBPP/${given.task_id}` : given.task_id;
  const reference = given.code ?? given.canonical_solution;
  if (reference === undefined)
    throw new AppError('invalid_input', `${id} has no reference solution (code).`);
  const { verifier, limits, more } = testsOf(id, reference, { given, value, text });
  return {
    suite: 'mbpp',
    id,
    environment: { ...pythonEnvironment, ...more },
    user: null,
    artifacts: { kind: 'files', paths: ['solution.py'] },
    scoring: 'final',
    tries: 1,
    content: contentHash('mbpp', hasInputs(value) ? text : given, limits),
    steps: [
      {
        name: 'solve',
        instruction: instructionOf(given),
        files: [],
        oracle: { kind: 'files', files: [fileEntry('solution.py', reference)] },
        verifier,
        limits,
        minReward: null,
      },
    ],
  };
}

function testsOf(
  id: string,
  reference: string,
  { given, value, text }: { given: Problem; value: unknown; text: string },
) {
  if (hasInputs(value))
    return {
      verifier: evalPlusVerifier({ text, line: value, reference }),
      limits: evalPlusLimits,
      more: evalPlusMemory,
    };
  const { test, test_setup_code: setup } = given;
  if (test === undefined && given.test_list.length === 0)
    throw new AppError('invalid_input', `${id} has neither tests nor inputs to test it with.`);
  const imports = [...given.test_imports, ...setup.split(/\r?\n/).filter(isImport)];
  const tests = test ?? given.test_list.join('\n');
  return {
    verifier: pythonVerifier({
      before: imports.map((line) => `${line}\n`).join(''),
      reference,
      // The set-up may use what the solution defines.
      tests: `${setup}\n${tests}\n`,
    }),
    limits: usesNumpy(tests) ? evalPlusLimits : pythonLimits,
    more: usesNumpy(tests) ? numpyImage : {},
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
