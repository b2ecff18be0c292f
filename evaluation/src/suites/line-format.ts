import { z } from 'zod';

/** The format of a line, if its fields leave no doubt. */
export interface LineFormat {
  /** Null if it is not a task of any suite. */
  suite: 'human-eval' | 'mbpp' | 'swe-bench' | null;
  /** What it is, and a sentence with what to do. */
  what: string;
  remedy: string;
}

const fields = z.object({
  task_id: z.union([z.string(), z.number()]).optional(),
  instance_id: z.string().optional(),
  prompt: z.string().optional(),
  entry_point: z.string().optional(),
});

/**
 * Recognizes the lines of suites by their fields, because those of one suite can often be read as
 * another's, and would then only fail. Null for lines that could be any.
 */
export function lineFormat(line: unknown): LineFormat | null {
  const { data } = fields.safeParse(line);
  if (!data || typeof line !== 'object' || line === null) return null;
  const has = (name: string) => name in line;
  const { task_id: id, instance_id: instance, prompt, entry_point: entry } = data;
  if (has('model_patch') || (id !== undefined && prompt === undefined && has('completion')))
    return {
      suite: null,
      what: 'a prediction',
      remedy: 'Name the data with --data, and this file with --agent predictions:FILE.',
    };
  if (instance !== undefined) return suiteFormat('swe-bench', 'an instance of SWE-bench');
  if (has('test_list') || /^mbpp\//i.test(String(id))) return suiteFormat('mbpp', 'a task of MBPP');
  // The answer is appended to a prompt that is the head of a function.
  if (entry !== undefined && prompt?.includes(`def ${entry}(`) && has('canonical_solution'))
    return suiteFormat('human-eval', 'a task of HumanEval');
  return null;
}

const suiteFormat = (suite: NonNullable<LineFormat['suite']>, what: string): LineFormat => ({
  suite,
  what,
  remedy: `Use the suite ${suite}, or name other data.`,
});
