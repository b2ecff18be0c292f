import { AppError } from '@belay/protocol';
import { z } from 'zod';

/** Lists of tests come as JSON in a string, and as lists. */
const testList = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? parsedList(value) : value));

function parsedList(text: string): string[] {
  return text.trim() ? z.array(z.string()).parse(JSON.parse(text)) : [];
}

const instance = z.object({
  repo: z.string(),
  instance_id: z.string(),
  base_commit: z.string().default(''),
  patch: z.string().default(''),
  test_patch: z.string().default(''),
  problem_statement: z.string(),
  FAIL_TO_PASS: testList.default([]),
  PASS_TO_PASS: testList.default([]),
  image: z.string().optional(),
  eval_script: z.string(),
  log_parser: z.string(),
  eval_type: z.enum(['pass_and_fail', 'fail_only']).default('pass_and_fail'),
  base_files: z.record(z.string(), z.string()).optional(),
  node_version: z.string().optional(),
});
export type Instance = z.infer<typeof instance>;

/** Rejects with `invalid_input` and what is wrong with it. */
export function parsedInstance(line: unknown): Instance {
  const found = instance.safeParse(line);
  if (found.success) return found.data;
  throw new AppError(
    'invalid_input',
    `An instance cannot be read: ${z.prettifyError(found.error)}`,
  );
}
